package dynamic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// request is one call of the author's code.
type request struct {
	Method  string
	Args    map[string]any
	subject provider.Subject
	limit   time.Duration
	secret  bool // whether Args have the plain text of a secret
}

// mutates reports whether the call may change real resources, so that its outcome is unclear if no answer comes.
func (r request) mutates() bool {
	switch r.Method {
	case "create", "update", "delete":
		return r.Args["preview"] != true
	}
	return false
}

// reply is the answer to a request.
type reply struct {
	N          int             `json:"n"`
	OK         json.RawMessage `json:"ok"`
	Error      *string         `json:"error"`
	Stack      string          `json:"stack"`
	Bad        bool            `json:"bad"` // the method returned a result that cannot be encoded
	ID         string          `json:"id"`
	Properties json.RawMessage `json:"properties"`
	Reasons    []string        `json:"reasons"`

	Begun    bool    `json:"begun"` // not the answer: the call has begun
	Log      *string `json:"log"`   // not the answer: a line that the code printed
	Severity string  `json:"severity"`
}

// into decodes the result into result; numbers become json.Number. It leaves result as it is if there is none.
func (r reply) into(result any) error {
	if !present(r.OK) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(r.OK))
	d.UseNumber()
	if err := d.Decode(result); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
		}
		return err
	}
	return nil
}

// host owns the process of one source. If the process ends, only calls that had begun fail; the others are repeated in
// a new process.
type host struct {
	source  *Source
	options Options

	mu      sync.Mutex
	process *process // guarded by mu; nil before the first call and after close
	closed  bool     // guarded by mu
	exports map[string]*export
}

// export is one provider that the source exports, and the result of its configuration in the current process.
type export struct {
	once     sync.Once
	err      error
	features []string // of methods, and canPreview
}

// canPreview is the feature of an author's object that supports previews of create and update.
const canPreview = "preview"

// retries is the number of processes in which a call is tried.
const retries = 3

// close ends the process and refuses new calls.
func (h *host) close() {
	h.mu.Lock()
	p := h.process
	h.closed, h.process = true, nil
	h.mu.Unlock()
	if p != nil {
		p.end()
	}
}

// current returns the running process and its exports by name. It starts a process if none runs.
func (h *host) current(ctx context.Context) (*process, map[string]*export, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, &provider.Error{Message: "the operation was cancelled"}
	}
	if h.process != nil && !h.process.ended() {
		return h.process, h.exports, nil
	}
	p, err := startProcess(h.source, h.options)
	if err != nil {
		return nil, nil, err
	}
	answer, err := p.do(ctx, request{Method: "load", Args: map[string]any{"code": h.source.Code, "file": h.source.File},
		limit: time.Minute})
	if err == nil {
		err = h.failure(answer, request{Method: "load"})
	}
	if err != nil {
		p.end()
		return nil, nil, h.ended(err, request{Method: "load"})
	}
	h.process, h.exports = p, map[string]*export{}
	return p, h.exports, nil
}

// ready returns the running process and the named export, which it configures at its first use in the process.
func (h *host) ready(ctx context.Context, name string) (*process, *export, error) {
	p, exports, err := h.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	e := exports[name]
	if e == nil {
		e = &export{}
		exports[name] = e
	}
	h.mu.Unlock()
	e.once.Do(func() {
		config := h.options.Config
		if config == nil {
			config = map[string]string{}
		}
		r := request{Method: "configure", limit: time.Minute, secret: h.options.ConfigHasSecrets,
			Args: map[string]any{"export": name, "project": h.options.Project, "stack": h.options.Stack, "config": config}}
		answer, err := p.do(context.WithoutCancel(ctx), r)
		if err == nil {
			err = h.failure(answer, r)
		} else {
			err = h.ended(err, r)
		}
		if err != nil {
			e.err = err
			return
		}
		var result struct {
			Methods, Others []string
			Preview         bool
		}
		if err := answer.into(&result); err != nil {
			e.err = h.nonsense("configure", err)
		} else {
			e.err = slip(h.source.File, result.Methods, result.Others)
		}
		if e.features = result.Methods; result.Preview {
			e.features = append(e.features, canPreview)
		}
	})
	return p, e, e.err
}

// call makes a request. It repeats the request in a new process if the process ended before the call had begun.
func (h *host) call(ctx context.Context, r request) (reply, error) {
	for try := 1; ; try++ {
		name, _ := r.Args["export"].(string)
		p, _, err := h.ready(ctx, name)
		if err != nil {
			return reply{}, err
		}
		answer, err := p.do(ctx, r)
		if gone, ok := errors.AsType[*goneError](err); ok && !gone.begun && try < retries && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return reply{}, h.ended(err, r)
		}
		return answer, h.failure(answer, r)
	}
}

// failure returns the error in an answer, with the line of the author's code that threw it; nil if it has none.
func (h *host) failure(answer reply, r request) error {
	if answer.Error == nil {
		return nil
	}
	message := *answer.Error
	if answer.Bad {
		return h.nonsense(r.Method, errors.New(message))
	}
	message = cmp.Or(h.source.place(answer.Stack), h.source.File) + ": " + message
	failed := &provider.Error{Message: message}
	if answer.ID != "" || len(answer.Reasons) > 0 {
		failed.Outcome, failed.ID = provider.Partial, answer.ID
		if failed.Reasons = answer.Reasons; len(failed.Reasons) == 0 {
			failed.Reasons = []string{message}
			failed.Message = ""
		}
		if present(answer.Properties) {
			outputs, err := decode(answer.Properties, false)
			if err != nil {
				return h.nonsense(r.Method, err)
			}
			failed.Outputs = outputs
		} else {
			failed.Outputs = value.EmptyMap()
		}
	}
	return failed
}

// ended returns the error of a call that got no answer.
func (h *host) ended(err error, r request) error {
	if failed, ok := errors.AsType[*provider.Error](err); ok {
		return failed
	}
	failed := &provider.Error{Message: h.source.File + ": " + err.Error(), Cause: err}
	if gone, ok := errors.AsType[*goneError](err); r.mutates() && (!ok || gone.begun) {
		failed.Outcome, failed.Lost = provider.Unclear, true
	}
	return failed
}

// nonsense returns the error of an answer that cannot be used. The outcome of create, update or delete is then unclear.
func (h *host) nonsense(method string, err error) error {
	failed := &provider.Error{Message: fmt.Sprintf("%s: the answer of %s cannot be used: %v", h.source.File, method, err)}
	if method == "create" || method == "update" || method == "delete" {
		failed.Outcome, failed.Lost = provider.Unclear, true
	}
	return failed
}
