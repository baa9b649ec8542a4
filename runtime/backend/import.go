package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// ForeignStackError is returned when a state to import has a resource of another stack (F5.17).
type ForeignStackError struct {
	Ref Ref
	URN urn.URN
}

func (e *ForeignStackError) Error() string {
	return fmt.Sprintf("the state to import has the resource %s, which belongs to the stack %q and not to %q",
		e.URN, e.URN.Stack(), e.Ref.Stack)
}

// Imported describes what Import has done beside replacing the state.
type Imported struct {
	Dropped  []state.Operation // pending operations, which an import does not take over
	Warnings []error           // what would have been an error without force
}

// ImportOptions control how Import works.
type ImportOptions struct {
	Begin BeginOptions
	Force bool // a *ForeignStackError or *state.IntegrityError is only a warning
}

// Import replaces a stack's state by what stack export prints (F5.17), under the stack's lock and without a record in
// the history. Secrets in the clear are sealed. When it fails, the state is as it was.
func (b *Backend) Import(ctx context.Context, r Ref, data []byte, o ImportOptions) (_ *Imported, err error) {
	next, err := state.DecodeExport(data, o.Begin.Open)
	if err != nil {
		if _, ok := errors.AsType[*state.SyntaxError](err); ok {
			return nil, fmt.Errorf("the state to import cannot be read: %w", err)
		}
		return nil, err
	}
	out := &Imported{Dropped: next.Pending}
	next.Pending = nil
	if err := out.check(r, next, o.Force); err != nil {
		return nil, err
	}
	if r, err = b.named(ctx, r); err != nil {
		return nil, err
	}
	if h, ok := b.hosted(); ok {
		return out, h.replace(ctx, r, next, o.Begin)
	}
	o.Begin.SkipIntegrity = true // what is there is about to go
	s, err := b.Begin(ctx, r, o.Begin)
	if err != nil {
		return nil, err
	}
	err = s.Commit(ctx, next, nil)
	if _, ok := errors.AsType[*state.IntegrityError](err); ok && o.Force {
		err = nil // told already
	}
	return out, err
}

// check looks for what is wrong with a state to import. With force, that becomes warnings.
func (i *Imported) check(r Ref, s *state.Snapshot, force bool) error {
	var faults []error
	for _, res := range s.Resources {
		if res.URN.Stack() != r.Stack {
			faults = append(faults, &ForeignStackError{r, res.URN})
			break
		}
	}
	if err := s.Verify(); err != nil {
		faults = append(faults, err)
	}
	if force {
		i.Warnings = faults
		return nil
	}
	return errors.Join(faults...)
}
