package apply

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// mostRetries is the maximum number of retries of one operation by error hooks (E5.46).
const mostRetries = 100

// Hooks are the program's registered hooks, which run around steps. It is safe for concurrent use.
type Hooks struct {
	mu     sync.Mutex // guards byName
	byName map[string]monitor.Hook
}

// Register registers a hook. It returns an error if the name is taken by any kind of hook (E2.75).
func (h *Hooks) Register(hook monitor.Hook) error {
	if hook.Name == "" {
		return errors.New("a hook needs a name")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.byName[hook.Name]; taken {
		return fmt.Errorf("a hook %q exists already", hook.Name)
	}
	if h.byName == nil {
		h.byName = map[string]monitor.Hook{}
	}
	h.byName[hook.Name] = hook
	return nil
}

// get returns a registered hook.
func (h *Hooks) get(name string) (monitor.Hook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hook, ok := h.byName[name]
	if !ok {
		return hook, fmt.Errorf("hook %q was not registered", name)
	}
	return hook, nil
}

// hookKind returns the operation that the hooks of a step are bound to, such as Create for BeforeCreate, and the state
// that names the hooks: the old state for deletions, otherwise the new one (E2.79). Both are zero for steps without
// hooks.
func hookKind(s *plan.Step) (kind string, binds *state.Resource) {
	switch s.Op {
	case plan.OpCreate, plan.OpCreateReplacement:
		return "Create", s.New
	case plan.OpUpdate:
		return "Update", s.New
	case plan.OpDelete, plan.OpDeleteReplaced:
		return "Delete", s.Old
	}
	return "", nil
}

// runHooks runs the hooks of a resource that are bound to kind, such as BeforeCreate, in the order of the bindings
// (E2.76). It stops at the first failure; a failure of a hook with IgnoreErrors is only a warning (E2.78). result is
// the state after the operation, nil before it.
func (x *Executor) runHooks(s *plan.Step, kind string, binds, result *state.Resource) error {
	if binds == nil {
		return nil
	}
	for _, name := range binds.ResourceHooks[kind] {
		hook, err := x.Hooks.get(name)
		if err != nil {
			return err
		}
		if x.DryRun && !hook.OnDryRun {
			continue
		}
		if err := x.held(); err != nil { // a hook may change things
			return err
		}
		if _, err := hook.Run(x.Calls, hookArgs(s, binds, result)); err != nil {
			failed := fmt.Errorf("%s hook %q failed: %w", kind, name, err)
			if !hook.IgnoreErrors {
				return failed
			}
			x.tell(s, diag.Warning, "", failed.Error())
		}
	}
	return nil
}

// hookArgs returns the arguments of a hook: old values except for creations, new values except for deletions, and new
// outputs only after the operation (E2.77).
func hookArgs(s *plan.Step, binds, result *state.Resource) value.Value {
	id := binds.ID
	if s.Old != nil && id == "" {
		id = s.Old.ID
	}
	args := map[string]value.Value{
		"urn": value.String(string(binds.URN)), "name": value.String(binds.URN.Name()), "type": value.String(binds.Type),
	}
	if s.Old != nil && s.Op != plan.OpCreateReplacement {
		args["oldInputs"], args["oldOutputs"] = s.Old.Inputs.MapOrEmpty(), s.Old.Outputs.MapOrEmpty()
	}
	if s.New != nil && binds == s.New {
		args["newInputs"] = s.New.Inputs.MapOrEmpty()
	}
	if result != nil {
		id = result.ID
		args["newOutputs"] = result.Outputs.MapOrEmpty()
	}
	args["id"] = value.String(id)
	return value.Map(args)
}

// performHooked performs a step between its hooks: if a hook before it fails, the provider is not called (E2.78); if
// the operation fails, error hooks may repeat it (E5.46).
func (x *Executor) performHooked(s *execution) (*state.Resource, error) {
	kind, binds := hookKind(&s.Step)
	if kind == "" || len(binds.ResourceHooks) == 0 {
		return x.perform(s)
	}
	if err := x.runHooks(&s.Step, "Before"+kind, binds, nil); err != nil {
		return nil, err
	}
	result, err := x.perform(s)
	// Error hooks get the failures of all attempts, so that they can limit their number.
	var told []value.Value // error texts, newest first
	for try := 1; err != nil && len(binds.ResourceHooks["OnError"]) > 0 && !x.Terminated(); try++ {
		if errors.As(err, new(*notHeldError)) {
			break // the provider was not called
		}
		told = slices.Insert(told, 0, value.String(err.Error()))
		again, hookErr := x.askErrorHooks(&s.Step, binds, kind, told)
		if errors.As(hookErr, new(*notHeldError)) {
			break // the outcome of the attempt stays
		}
		if hookErr != nil {
			return result, fmt.Errorf("error hooks execution failed: %w", hookErr)
		}
		if !again {
			break
		}
		warning := fmt.Sprintf("retrying %s due to on-error hook request (%d/%d)", operationName(kind), try, mostRetries)
		if try > mostRetries {
			warning = fmt.Sprintf("maximum number of error hook retries (%d) reached", mostRetries)
		}
		x.tell(&s.Step, diag.Warning, "", warning)
		if try > mostRetries {
			break
		}
		next, nextErr := x.perform(s)
		if errors.As(nextErr, new(*notHeldError)) {
			break
		}
		result, err = next, nextErr
	}
	return result, err
}

// askErrorHooks runs all error hooks and reports whether at least one of them wants a retry.
func (x *Executor) askErrorHooks(s *plan.Step, binds *state.Resource, kind string, told []value.Value) (again bool,
	err error) {
	for _, name := range binds.ResourceHooks["OnError"] {
		hook, err := x.Hooks.get(name)
		if err != nil {
			return false, err
		}
		args := hookArgs(s, binds, nil).With("failedOperation", value.String(operationName(kind))).With("errors",
			value.List(told...))
		if err := x.held(); err != nil {
			return false, err
		}
		retry, err := hook.Run(x.Calls, args)
		if err != nil {
			return false, err
		}
		again = again || retry
	}
	return again, nil
}

// operationName returns the name of an operation for error hooks.
func operationName(kind string) string {
	return map[string]string{"Create": "create", "Update": "update", "Delete": "delete"}[kind]
}

// AfterHooks runs the hooks after a step whose result is recorded already. A failing hook does not change the result,
// but fails the operation, which starts nothing else without ContinueOnError (E2.78, E5.47). The hooks of components
// run when their outputs are registered.
func (x *Executor) AfterHooks(s *plan.Step, result *state.Resource) {
	kind, binds := hookKind(s)
	if kind == "" || len(binds.ResourceHooks) == 0 {
		return
	}
	if err := x.runHooks(s, "After"+kind, binds, result); err != nil {
		x.tell(s, diag.Error, diag.OperationFailed, err.Error())
		x.Failed()
	}
}
