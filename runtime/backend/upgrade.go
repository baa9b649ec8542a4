package backend

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Upgraded reports what Upgrade did with a stack of the layout without projects.
type Upgraded struct {
	Stack string
	Now   Ref   // where the stack is now
	Err   error // why it stays where it was; nil for a stack that has moved
}

// ErrNoProject is the reason why a stack without resources stays in the old layout.
var ErrNoProject = errors.New("it has no resource, which would name its project; `yamlhost stack init` makes such a " +
	"stack anew in its project")

// Upgrade brings a backend that was opened with Options.Upgrading to the layout with a folder for each project (F6.5).
// Each stack goes to the project that its resources name, under its lock and with its history; its former state file
// stays as .bak. An upgrade that was cut off is completed by the next one. Stacks that cannot go stay as they are.
func (b *Backend) Upgrade(ctx context.Context) ([]Upgraded, error) {
	names, err := b.Legacy()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	_, err = b.layout()
	old, isLayout := errors.AsType[*LayoutError](err)
	switch {
	case isLayout && old.Legacy: // before the stacks, so that a folder that cannot be written stays as it is
		if err := b.writeLayout(); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	var done []Upgraded
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		now, err := b.upgradeStack(ctx, Ref{Stack: name, legacy: true})
		done = append(done, Upgraded{name, now, err})
	}
	return done, nil
}

// Legacy returns the names of the stacks of the layout without projects (F6.5).
func (b *files) Legacy() ([]string, error) {
	if IsService(b.url) {
		return nil, nil
	}
	files, err := b.list("stacks")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		if stack, ok := stackOf(file); ok && (Ref{Stack: stack, legacy: true}).check() == nil {
			names = append(names, stack)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil // one may be packed in two ways
}

// upgradeStack moves a stack into the folder of its project.
func (b *Backend) upgradeStack(ctx context.Context, from Ref) (to Ref, err error) {
	loaded, err := b.Load(ctx, from, nil)
	if err != nil {
		return to, err
	}
	if len(loaded.Snapshot.Resources) == 0 {
		return to, ErrNoProject
	}
	to = Ref{Project: loaded.Snapshot.Resources[0].URN.Project(), Stack: from.Stack}
	err = b.move(ctx, from, to, "state upgrade")
	if _, exists := errors.AsType[*ExistsError](err); exists {
		err = fmt.Errorf("%w, and has another state: the one of the old layout stays in %s", err,
			filepath.ToSlash(b.stateOf(from).file(Plain)))
	}
	return to, err
}
