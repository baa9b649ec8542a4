package plugin_test

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

var (
	_ provider.Provider   = (*recorder)(nil)
	_ provider.Configured = (*recorder)(nil)
)

// recorder is a provider that keeps the last request and returns a preset answer.
type recorder struct {
	info       provider.Info
	got        any
	answer     any
	err        error
	configured provider.ConfigureRequest
	cancelled  int
	closed     int
}

func answer[T any](r *recorder, request any) (T, error) {
	r.got = request
	a, _ := r.answer.(T)
	return a, r.err
}

func (r *recorder) Info(context.Context) (provider.Info, error) { return r.info, nil }
func (r *recorder) Parameterize(_ context.Context, q provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	return answer[provider.ParameterizeResponse](r, q)
}
func (r *recorder) Schema(_ context.Context, q provider.SchemaRequest) ([]byte, error) {
	return answer[[]byte](r, q)
}
func (r *recorder) CheckConfig(_ context.Context, q provider.CheckRequest) (provider.CheckResponse, error) {
	return answer[provider.CheckResponse](r, q)
}
func (r *recorder) DiffConfig(_ context.Context, q provider.DiffRequest) (provider.DiffResponse, error) {
	return answer[provider.DiffResponse](r, q)
}
func (r *recorder) Configure(_ context.Context, q provider.ConfigureRequest) (provider.Configured, error) {
	r.configured = q
	return r, nil
}
func (r *recorder) Cancel(context.Context) error { r.cancelled++; return nil }
func (r *recorder) Close() error                 { r.closed++; return nil }
func (r *recorder) Check(_ context.Context, q provider.CheckRequest) (provider.CheckResponse, error) {
	return answer[provider.CheckResponse](r, q)
}
func (r *recorder) Diff(_ context.Context, q provider.DiffRequest) (provider.DiffResponse, error) {
	return answer[provider.DiffResponse](r, q)
}
func (r *recorder) Create(_ context.Context, q provider.CreateRequest) (provider.CreateResponse, error) {
	return answer[provider.CreateResponse](r, q)
}
func (r *recorder) Read(_ context.Context, q provider.ReadRequest) (provider.ReadResponse, error) {
	return answer[provider.ReadResponse](r, q)
}
func (r *recorder) Update(_ context.Context, q provider.UpdateRequest) (provider.UpdateResponse, error) {
	return answer[provider.UpdateResponse](r, q)
}
func (r *recorder) Delete(_ context.Context, q provider.DeleteRequest) error {
	r.got = q
	return r.err
}
func (r *recorder) Invoke(_ context.Context, q provider.InvokeRequest) (provider.InvokeResponse, error) {
	return answer[provider.InvokeResponse](r, q)
}
func (r *recorder) List(_ context.Context, q provider.ListRequest) (provider.ListResponse, error) {
	return answer[provider.ListResponse](r, q)
}
func (r *recorder) Call(_ context.Context, q provider.CallRequest) (provider.CallResponse, error) {
	return answer[provider.CallResponse](r, q)
}
func (r *recorder) Construct(_ context.Context, q provider.ConstructRequest) (provider.ConstructResponse, error) {
	return answer[provider.ConstructResponse](r, q)
}
