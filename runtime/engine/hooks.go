package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
)

var _ monitor.HookRegistrar = (*Deployment)(nil)

// mostRetries is how often error hooks may have one operation tried again (E5.46).
const mostRetries = 100

// RegisterHook announces a hook; its name is taken once, by whatever kind of hook (E2.75).
func (d *Deployment) RegisterHook(_ context.Context, h monitor.Hook) error {
	if h.Name == "" {
		return errors.New("a hook needs a name")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, taken := d.hooks[h.Name]; taken {
		return fmt.Errorf("there is a hook %q already", h.Name)
	}
	if d.hooks == nil {
		d.hooks = map[string]monitor.Hook{}
	}
	d.hooks[h.Name] = h
	return nil
}

// hookMoment is what the hooks around a step are bound to, such as Create for BeforeCreate, and the state that binds them:
// deletions go by the old state, everything else by the new one (E2.79). It is empty for steps that have none.
func hookMoment(s *Step) (moment string, binds *state.Resource) {
	switch s.Op {
	case OpCreate, OpCreateReplacement:
		return "Create", s.New
	case OpUpdate:
		return "Update", s.New
	case OpDelete, OpDeleteReplaced:
		return "Delete", s.Old
	}
	return "", nil
}

// runHooks runs the hooks of a resource that are bound to a kind such as BeforeCreate, one after the other in the order in
// which they are bound (E2.76). It stops at the first that fails; a failure to be ignored is a warning and no failure
// (E2.78). result is the state after the operation, nil before it.
func (d *Deployment) runHooks(s *Step, kind string, binds, result *state.Resource) error {
	if binds == nil {
		return nil
	}
	for _, name := range binds.ResourceHooks[kind] {
		hook, err := d.hook(name)
		if err != nil {
			return err
		}
		if d.opts.DryRun && !hook.OnDryRun {
			continue
		}
		if _, err := hook.Run(d.calls, hookArgs(s, binds, result)); err != nil {
			failed := fmt.Errorf("%s hook %q failed: %w", kind, name, err)
			if !hook.IgnoreErrors {
				return failed
			}
			d.report.message(Message{URN: s.URN, Severity: diag.Warning, Position: positionOf(s.New, s.Old), Text: failed.Error()})
		}
	}
	return nil
}

func (d *Deployment) hook(name string) (monitor.Hook, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hook, ok := d.hooks[name]
	if !ok {
		return hook, fmt.Errorf("hook %q was not registered", name)
	}
	return hook, nil
}

// hookArgs is what a hook gets to know: creations have nothing old, deletions nothing new, and before an operation there
// are no new outputs (E2.77).
func hookArgs(s *Step, binds, result *state.Resource) value.Value {
	id := binds.ID
	if s.Old != nil && id == "" {
		id = s.Old.ID
	}
	args := map[string]value.Value{
		"urn": value.String(string(binds.URN)), "name": value.String(binds.URN.Name()), "type": value.String(binds.Type),
	}
	if s.Old != nil && s.Op != OpCreateReplacement {
		args["oldInputs"], args["oldOutputs"] = plan.AsMap(s.Old.Inputs), plan.AsMap(s.Old.Outputs)
	}
	if s.New != nil && binds == s.New {
		args["newInputs"] = plan.AsMap(s.New.Inputs)
	}
	if result != nil {
		id = result.ID
		args["newOutputs"] = plan.AsMap(result.Outputs)
	}
	args["id"] = value.String(id)
	return value.Map(args)
}

// performHooked performs a step between its hooks: when one before it fails, nothing is asked of the provider (E2.78), and
// when the operation fails, error hooks may have it tried again (E5.46).
func (d *Deployment) performHooked(s *execution) (*state.Resource, error) {
	moment, binds := hookMoment(&s.Step)
	if moment == "" || len(binds.ResourceHooks) == 0 {
		return d.perform(s)
	}
	if err := d.runHooks(&s.Step, "Before"+moment, binds, nil); err != nil {
		return nil, err
	}
	result, err := d.perform(s)
	var told []value.Value // texts of what went wrong, newest first
	for try := 1; err != nil && len(binds.ResourceHooks["OnError"]) > 0 && !d.isTerminated(); try++ {
		told = slices.Insert(told, 0, value.String(err.Error()))
		again, hookErr := d.askErrorHooks(&s.Step, binds, moment, told)
		if hookErr != nil {
			return result, fmt.Errorf("error hooks execution failed: %w", hookErr)
		}
		if !again {
			break
		}
		warning := fmt.Sprintf("retrying %s due to on-error hook request (%d/%d)", operationName(moment), try, mostRetries)
		if try > mostRetries {
			warning = fmt.Sprintf("maximum number of error hook retries (%d) reached", mostRetries)
		}
		d.report.message(Message{URN: s.URN, Severity: diag.Warning, Position: positionOf(s.New, s.Old), Text: warning})
		if try > mostRetries {
			break
		}
		result, err = d.perform(s)
	}
	return result, err
}

// askErrorHooks asks each error hook; one is enough to have the operation tried again.
func (d *Deployment) askErrorHooks(s *Step, binds *state.Resource, moment string, told []value.Value) (again bool, err error) {
	for _, name := range binds.ResourceHooks["OnError"] {
		hook, err := d.hook(name)
		if err != nil {
			return false, err
		}
		args := hookArgs(s, binds, nil).With("failedOperation", value.String(operationName(moment))).With("errors", value.List(told...))
		retry, err := hook.Run(d.calls, args)
		if err != nil {
			return false, err
		}
		again = again || retry
	}
	return again, nil
}

// operationName is a moment as error hooks know it.
func operationName(moment string) string {
	return map[string]string{"Create": "create", "Update": "update", "Delete": "delete"}[moment]
}

// afterHooks runs the hooks after a step whose result is in the state by now. A failure changes nothing about that, but the
// operation has failed, and without ContinueOnError nothing else starts (E2.78, E5.47). Components come to their end when
// their outputs are registered.
func (d *Deployment) afterHooks(s *Step, result *state.Resource) {
	moment, binds := hookMoment(s)
	if moment == "" || len(binds.ResourceHooks) == 0 {
		return
	}
	if err := d.runHooks(s, "After"+moment, binds, result); err != nil {
		d.report.message(Message{URN: s.URN, Severity: diag.Error, Code: diag.OperationFailed, Position: positionOf(s.New, s.Old), Text: err.Error()})
		if !d.opts.ContinueOnError {
			d.stop()
		}
	}
}
