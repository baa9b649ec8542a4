package dynamic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// codeInput is the input of every resource that holds the digest of its code, so that a change of the code shows as a
// diff.
const codeInput = "__provider"

// configured serves the types of a definition. It is safe for concurrent use.
type configured struct {
	provider.Refusing
	def     Definition
	timeout time.Duration
	hosts   map[*Source]*host // immutable after newConfigured
}

var _ provider.Configured = (*configured)(nil)

func newConfigured(l *loaded, d Definition) *configured {
	c := &configured{Refusing: refusing, def: d, timeout: cmp.Or(l.options.Timeout, 10*time.Minute),
		hosts: map[*Source]*host{}}
	for _, t := range d {
		if c.hosts[t.Source] == nil {
			c.hosts[t.Source] = &host{source: t.Source, options: l.options}
		}
	}
	return c
}

func (c *configured) close() {
	for _, h := range c.hosts {
		h.close()
	}
}

// served is a type with the process that runs its code.
type served struct {
	Type
	host    *host
	timeout time.Duration // of calls without a timeout of their own
}

func (c *configured) lookup(token string) (served, error) {
	t, found := c.def[typeName(token)]
	if !found {
		return served{}, &provider.Error{Message: fmt.Sprintf("the dynamic provider has no type %s", token)}
	}
	return served{t, c.hosts[t.Source], c.timeout}, nil
}

// call calls a method of the author's code and decodes its answer into result. Values among args are encoded first.
// seconds is the caller's timeout; 0 selects s.timeout.
func (s served) call(ctx context.Context, about provider.Subject, method string, seconds float64, args map[string]any,
	result any) error {
	secret := false
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if v, ok := args[name].(value.Value); ok {
			text, err := encode(v)
			if err != nil {
				return err
			}
			args[name], secret = text, secret || v.ContainsSecret()
		}
	}
	args["export"] = s.Export
	limit := s.timeout
	if seconds > 0 {
		limit = time.Duration(seconds * float64(time.Second))
	}
	answer, err := s.host.call(ctx, request{Method: method, Args: args, subject: about, limit: limit, secret: secret})
	if err != nil {
		return err
	}
	if err := answer.into(result); err != nil {
		return s.host.nonsense(method, err)
	}
	return nil
}

// has reports whether the author's provider has a feature: one of methods, or canPreview. Code that does not contain
// the feature's name does not have it, so no process is started to ask it.
func (s served) has(ctx context.Context, feature string) (bool, error) {
	if !strings.Contains(s.Source.Code, feature) {
		return false, nil
	}
	_, e, err := s.host.ready(ctx, s.Export)
	return err == nil && slices.Contains(e.features, feature), err
}

// Check runs the author's check, if it exists, and adds the code's digest to the inputs.
func (c *configured) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	t, err := c.lookup(r.Type)
	if err != nil {
		return provider.CheckResponse{}, err
	}
	inputs := r.News.MapOrEmpty().Without(codeInput)
	if has, err := t.has(ctx, "check"); err != nil {
		return provider.CheckResponse{}, err
	} else if has {
		var result struct {
			Inputs   json.RawMessage
			Failures []provider.Failure
		}
		args := map[string]any{"olds": r.Olds.MapOrEmpty().Without(codeInput), "news": inputs}
		if err := t.call(ctx, r.Subject, "check", 0, args, &result); err != nil {
			return provider.CheckResponse{}, err
		}
		if len(result.Failures) > 0 {
			return provider.CheckResponse{Inputs: r.News, Failures: result.Failures}, nil
		}
		if present(result.Inputs) {
			checked, err := decode(result.Inputs, r.AllowUnknowns)
			if err != nil {
				return provider.CheckResponse{}, t.host.nonsense("check", err)
			}
			inputs = checked.SecretLike(inputs)
		}
	}
	digest := value.String(t.Source.Digest)
	if old := r.Olds.Get(codeInput); t.OnCodeChange == Ignore && old.Is(value.KindString) {
		digest = old
	}
	return provider.CheckResponse{Inputs: inputs.With(codeInput, digest)}, nil
}

// Diff runs the author's diff; without one it compares the inputs.
func (c *configured) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	t, err := c.lookup(r.Type)
	if err != nil {
		return provider.DiffResponse{}, err
	}
	before, after := r.OldInputs.Get(codeInput), r.News.Get(codeInput)
	codeChanged := t.OnCodeChange != Ignore && !value.Equal(before, after)
	has, err := t.has(ctx, "diff")
	if err != nil {
		return provider.DiffResponse{}, err
	}
	var response provider.DiffResponse
	if has {
		response, err = t.authorsDiff(ctx, r, codeChanged)
		if err != nil {
			return response, err
		}
		if codeChanged && t.OnCodeChange == ByDiff {
			return response, nil // the author's diff decides
		}
	} else {
		response = compare(t.Type, r.OldInputs.Without(codeInput), r.News.Without(codeInput))
	}
	if codeChanged {
		response.Changes = provider.DiffSome
		response.Diffs = append(response.Diffs, codeInput)
		if response.Detailed == nil {
			response.Detailed = map[string]provider.PropertyDiff{}
		}
		response.Detailed[codeInput] = provider.PropertyDiff{Kind: provider.DiffUpdate, InputDiff: true}
		if t.OnCodeChange == Replace {
			response.Replaces = append(response.Replaces, codeInput)
		}
	}
	response.Stables = append(response.Stables, t.Stable...)
	return response, nil
}

// compare returns the diff for code without a diff method: a changed input updates the resource, or replaces it if it
// is listed in t.Replace.
func compare(t Type, prior, news value.Value) provider.DiffResponse {
	response := provider.DiffResponse{Changes: provider.DiffNone, Detailed: map[string]provider.PropertyDiff{}}
	for _, change := range value.Changes(prior.DeepPublic(), news.DeepPublic()) {
		response.Changes = provider.DiffSome
		key := change.Path[0].Key
		kind := provider.DiffKindOf(change.Kind)
		if slices.Contains(t.Replace, key) {
			kind = kind.AsReplace()
			response.Replaces = appendNew(response.Replaces, key)
		}
		response.Diffs = appendNew(response.Diffs, key)
		response.Detailed[change.Path.String()] = provider.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return response
}

func (s served) authorsDiff(ctx context.Context, r provider.DiffRequest, codeChanged bool) (provider.DiffResponse,
	error) {
	var result struct {
		Changes             *bool
		Replaces, Stables   []string
		DeleteBeforeReplace bool
	}
	err := s.call(ctx, r.Subject, "diff", 0, map[string]any{"id": r.ID, "news": r.News.Without(codeInput),
		"olds": r.OldOutputs.MapOrEmpty().Without(codeInput), "codeChanged": codeChanged}, &result)
	if err != nil {
		return provider.DiffResponse{}, err
	}
	response := provider.DiffResponse{Changes: provider.DiffNone, Replaces: result.Replaces, Stables: result.Stables,
		DeleteBeforeReplace: result.DeleteBeforeReplace}
	switch {
	case len(result.Replaces) > 0 || result.Changes != nil && *result.Changes:
		response.Changes = provider.DiffSome
		response.Diffs = slices.Clone(result.Replaces)
	case result.Changes == nil:
		response = compare(s.Type, r.OldInputs.Without(codeInput), r.News.Without(codeInput))
		response.Stables, response.DeleteBeforeReplace = result.Stables, result.DeleteBeforeReplace
	}
	return response, nil
}

// Create creates a resource. A preview runs the author's create only if the author's object supports previews.
func (c *configured) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	t, err := c.lookup(r.Type)
	if err != nil {
		return provider.CreateResponse{}, err
	}
	inputs := r.Inputs.MapOrEmpty().Without(codeInput)
	args := map[string]any{"inputs": inputs}
	if r.Preview {
		if can, err := t.has(ctx, canPreview); err != nil || !can {
			return provider.CreateResponse{Outputs: value.EmptyMap()}, err
		}
		args["preview"] = true
	}
	var result struct {
		ID   any `json:"id"`
		Outs json.RawMessage
	}
	if err := t.call(ctx, r.Subject, "create", r.Timeout, args, &result); err != nil {
		return provider.CreateResponse{}, t.withOutputs(err, inputs, value.Null)
	}
	id := idText(result.ID)
	if id == "" && !r.Preview {
		// The code has answered, so its outcome is not open: the next run creates again.
		return provider.CreateResponse{}, &provider.Error{Outcome: provider.Unclear, Message: t.host.source.File +
			": the answer of create cannot be used: it returned no id. If it made an object, nothing manages that"}
	}
	outputs, err := t.outputs("create", result.Outs, r.Preview, inputs, value.Null)
	return provider.CreateResponse{ID: id, Outputs: outputs}, err
}

// Update changes a resource. If the code has no update method, the outputs take the values of inputs of the same name.
func (c *configured) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	t, err := c.lookup(r.Type)
	if err != nil {
		return provider.UpdateResponse{}, err
	}
	inputs, prior := r.News.MapOrEmpty().Without(codeInput), r.OldOutputs.MapOrEmpty().Without(codeInput)
	args := map[string]any{"id": r.ID, "olds": prior, "news": inputs}
	if r.Preview {
		can, err := t.has(ctx, canPreview)
		if err != nil {
			return provider.UpdateResponse{}, err
		}
		if !can {
			kept := value.EmptyMap()
			for _, name := range t.Stable {
				if old, ok := r.OldOutputs.Lookup(name); ok {
					kept = kept.With(name, old)
				}
			}
			return provider.UpdateResponse{Outputs: kept}, nil
		}
		args["preview"] = true
	}
	has, err := t.has(ctx, "update")
	if err != nil {
		return provider.UpdateResponse{}, err
	}
	if !has {
		outputs := prior
		for _, key := range inputs.Keys() {
			if outputs.Has(key) {
				outputs = outputs.With(key, inputs.Get(key))
			}
		}
		return provider.UpdateResponse{Outputs: outputs}, nil
	}
	var result struct{ Outs json.RawMessage }
	if err := t.call(ctx, r.Subject, "update", r.Timeout, args, &result); err != nil {
		return provider.UpdateResponse{}, t.withOutputs(err, inputs, prior)
	}
	outputs, err := t.outputs("update", result.Outs, r.Preview, inputs, prior)
	return provider.UpdateResponse{Outputs: outputs}, err
}

// Delete deletes a resource. It does nothing if the code has no delete method.
func (c *configured) Delete(ctx context.Context, r provider.DeleteRequest) error {
	t, err := c.lookup(r.Type)
	if err != nil {
		return err
	}
	if has, err := t.has(ctx, "delete"); err != nil || !has {
		return err
	}
	args := map[string]any{"id": r.ID, "props": r.Outputs.MapOrEmpty().Without(codeInput)}
	return t.call(ctx, r.Subject, "delete", r.Timeout, args, new(any))
}

// Read refreshes or imports a resource. If the code has no read method, a resource with inputs is returned unchanged
// and an import is an error.
func (c *configured) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	t, err := c.lookup(r.Type)
	if err != nil {
		return provider.ReadResponse{}, err
	}
	has, err := t.has(ctx, "read")
	if err != nil {
		return provider.ReadResponse{}, err
	}
	if !has {
		if r.Inputs.IsNull() {
			return provider.ReadResponse{}, &provider.Error{Message: fmt.Sprintf(
				"%s has no method read, so %s %s cannot be imported or read", t.Source.File, typeName(r.Type), r.ID)}
		}
		return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs}, nil
	}
	prior, recorded := r.Outputs.MapOrEmpty().Without(codeInput), r.Inputs.MapOrEmpty().Without(codeInput)
	var result struct {
		ID     any `json:"id"`
		Props  json.RawMessage
		Outs   json.RawMessage // Python's name for Props
		Inputs json.RawMessage
	}
	args := map[string]any{"id": r.ID, "props": prior}
	if err := t.call(ctx, r.Subject, "read", r.Timeout, args, &result); err != nil {
		return provider.ReadResponse{}, t.withOutputs(err, recorded, prior)
	}
	id := idText(result.ID)
	if id == "" { // the resource no longer exists; the rest of the answer is ignored
		return provider.ReadResponse{}, nil
	}
	if !present(result.Props) {
		result.Props = result.Outs
	}
	outputs, err := t.outputs("read", result.Props, false, recorded, prior)
	if err != nil {
		return provider.ReadResponse{}, err
	}
	inputs := r.Inputs
	switch {
	case present(result.Inputs):
		if inputs, err = decode(result.Inputs, false); err != nil {
			return provider.ReadResponse{}, t.host.nonsense("read", err)
		}
		inputs = inputs.SecretLike(r.Inputs.MapOrEmpty())
	case inputs.IsNull():
		inputs = t.inputsIn(outputs)
	}
	digest := r.Inputs.Get(codeInput)
	if digest.IsNull() {
		digest = value.String(t.Source.Digest)
	}
	return provider.ReadResponse{ID: id, Inputs: inputs.With(codeInput, digest), Outputs: outputs}, nil
}

// inputsIn returns the outputs named like declared inputs. They serve as the inputs of an imported resource.
func (t Type) inputsIn(outputs value.Value) value.Value {
	if t.Inputs == nil {
		return outputs
	}
	inputs := value.EmptyMap()
	for _, name := range t.Inputs {
		if v, ok := outputs.Lookup(name); ok && !v.IsNull() {
			inputs = inputs.With(name, v)
		}
	}
	return inputs
}

// encode encodes properties for the author's code: secrets in plain text, unknowns as sentinels.
func encode(v value.Value) (json.RawMessage, error) {
	text, err := wire.Options{KeepUnknowns: true, KeepResources: true}.EncodeJSON(v)
	if err != nil {
		return nil, &provider.Error{Message: "the inputs cannot be sent: " + err.Error()}
	}
	return text, nil
}

// decode decodes properties returned by the author's code.
func decode(text json.RawMessage, unknowns bool) (value.Value, error) {
	o := wire.Options{KeepUnknowns: unknowns, RejectUnknowns: !unknowns, KeepSecrets: true, KeepResources: true}
	return o.DecodeJSON(text)
}

// outputs decodes the outputs that a method returned and marks the secret ones, as seal does.
func (s served) outputs(method string, text json.RawMessage, preview bool, inputs, prior value.Value) (value.Value,
	error) {
	if !present(text) {
		return value.EmptyMap(), nil
	}
	v, err := decode(text, preview)
	if err != nil {
		return value.Null, s.host.nonsense(method, err)
	}
	return s.seal(v.Without(codeInput), inputs, prior), nil
}

func present(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }

// seal marks outputs as secret if t.Secret lists them, or if they may be made of a secret: of inputs, or of prior, the
// outputs that the code got. t.Public lists those that are not made of secrets, as the author declares.
func (t Type) seal(outputs, inputs, prior value.Value) value.Value {
	known := prior.MapOrEmpty()
	for _, name := range t.Secret { // secret by themselves, and not because of an input
		known = known.Without(name)
	}
	outputs = provider.Derived(outputs, inputs, value.List(inputs, known), t.Public...)
	for _, name := range t.Secret {
		if v, ok := outputs.Lookup(name); ok {
			outputs = outputs.With(name, v.Secret())
		}
	}
	return outputs
}

// withOutputs marks the secret outputs of a partial failure, as seal does.
func (t Type) withOutputs(err error, inputs, prior value.Value) error {
	if failed, ok := err.(*provider.Error); ok && failed.Outcome == provider.Partial {
		failed.Outputs = t.seal(failed.Outputs.MapOrEmpty(), inputs, prior)
	}
	return err
}

// idText returns an ID as text. Authors may return a number.
func idText(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case json.Number:
		return id.String()
	}
	return ""
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
