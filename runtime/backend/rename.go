package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Rename gives a stack another name (F6.14): its URNs, history and tags follow. The state file of the old name stays as
// .bak. Secrets stay sealed as they are. A stack of the new name gives an *ExistsError.
func (b *Backend) Rename(ctx context.Context, from, to Ref) (err error) {
	if to, err = b.named(ctx, to); err == nil {
		from, err = b.named(ctx, from)
	}
	if err == nil {
		err = to.CheckNew()
	}
	if err != nil {
		return err
	}
	if h, ok := b.hosted(); ok {
		if from.Owner != to.Owner {
			return fmt.Errorf("a stack cannot go from organization %q to %q by its name", from.Owner, to.Owner)
		}
		if err := h.sendKept(ctx, from); err != nil {
			return err
		}
		return b.service.Rename(ctx, from, to)
	}
	exists, err := b.Exists(to)
	if err == nil && exists {
		err = &ExistsError{to}
	}
	if err == nil {
		err = stackName(b.files.stateOf(to)).mayBeNew(from)
	}
	if err != nil {
		return err
	}
	return move(ctx, b, from, to, "stack rename")
}

// move gives a stack another name. A stack of the new name with another state gives an *ExistsError; one with the same
// state comes from an interrupted move, which is completed.
func move(ctx context.Context, b *Backend, from, to Ref, command string) (err error) {
	s, err := b.Begin(ctx, from, BeginOptions{Command: command, SkipIntegrity: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	held, err := b.files.locksOf(to).lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(held.explain(s.tools.held.explain(err)), held.release()) }()
	c := s.file.around
	next := s.base.OfStack(to.Project, to.Stack)
	c.Stack, c.Snapshot = to.QualifiedName(), next
	text, err := state.EncodeCheckpoint(&c, nil)
	if err != nil {
		return err
	}
	switch there, err := held.fenced().stateOf(to).holds(text); {
	case err != nil:
		return err
	case !there:
		if _, err := held.fenced().stateOf(to).replace(held, text, stored{}); err != nil {
			return err
		}
	}
	if tags, err := b.Tags(from); err == nil && len(tags) > 0 {
		if err := under(held, b).files.historyOf(to).setTags(tags); err != nil {
			return err
		}
	}
	loss, err := b.files.stateOf(from).loss()
	if err == nil && loss != nil {
		err = held.fenced().stateOf(to).setLoss(loss)
	}
	if err != nil {
		return err
	}
	b = under(s.tools.held, b) // from here on, the files of the old name change
	for _, path := range b.files.historyOf(from).within("history") {
		name := filepath.Base(path)
		i := strings.LastIndex(name, "-")
		if i < 0 {
			continue
		}
		data, err := b.files.disk.ReadFile(path)
		if err == nil {
			err = disk.WriteDurably(b.files.disk, b.files.path("history", to.Project, to.Stack, to.Stack+name[i:]), data)
		}
		if err == nil {
			err = disk.RemoveDurably(b.files.disk, path)
		}
		if err != nil {
			return fileError("move the history", path, err)
		}
	}
	if err := s.tools.held.guard(); err != nil {
		return err
	}
	for _, x := range extensions {
		path := b.files.stateOf(from).file(x)
		if err := b.files.stateOf(from).keepAsBackup(path); err != nil {
			return err
		}
		if err := b.files.remove("remove", path); err != nil {
			return err
		}
	}
	if loss != nil {
		if err := b.files.stateOf(from).setLoss(nil); err != nil {
			return err
		}
	}
	return b.files.historyOf(from).setTags(nil)
}

// holds reports whether the stack has a state with this content. One with another content gives an *ExistsError.
func (b stackState) holds(text []byte) (bool, error) {
	file, err := b.current()
	if _, missing := errors.AsType[*NotFoundError](err); missing {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c, err := file.decode(nil)
	if err != nil {
		return false, err
	}
	now, err := state.EncodeCheckpoint(c, nil)
	if err == nil && !bytes.Equal(now, text) {
		err = &ExistsError{b.ref}
	}
	return err == nil, err
}

// Edit changes a stack's state by hand, under its lock and without a record in the history. edit gets the state and
// returns the next one; if it returns the same one, nothing changes.
func (b *Backend) Edit(ctx context.Context, r Ref, o BeginOptions, edit func(*state.Snapshot) (*state.Snapshot,
	error)) (err error) {
	if r, err = b.named(ctx, r); err != nil {
		return err
	}
	sound := func(base *state.Snapshot) (*state.Snapshot, error) {
		next, err := edit(base)
		if err == nil && next != base && !o.SkipIntegrity {
			if err = next.Verify(); err != nil {
				err = fmt.Errorf("the state would not be sound after that: %w", err)
			}
		}
		return next, err
	}
	if h, ok := b.hosted(); ok {
		return h.edit(ctx, r, o, sound)
	}
	s, err := b.Begin(ctx, r, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	next, err := sound(s.Base())
	if err != nil || next == s.Base() {
		return err
	}
	return s.Commit(ctx, next, nil)
}

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
// stays as .bak. The next upgrade completes an interrupted one. Stacks that cannot be moved stay as they are.
func (b *Backend) Upgrade(ctx context.Context) ([]Upgraded, error) {
	names, err := Legacy(b)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	_, err = b.files.layout()
	old, isLayout := errors.AsType[*LayoutError](err)
	switch {
	case isLayout && old.Legacy: // before the stacks, so that a folder that cannot be written stays as it is
		if err := b.files.writeLayout(); err != nil {
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
		now, err := upgradeStack(ctx, b, Ref{Stack: name, legacy: true})
		done = append(done, Upgraded{name, now, err})
	}
	return done, nil
}

// Legacy returns the names of the stacks of the layout without projects (F6.5).
func Legacy(b *Backend) ([]string, error) {
	if IsService(b.files.url) {
		return nil, nil
	}
	files, err := b.files.list("stacks")
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
func upgradeStack(ctx context.Context, b *Backend, from Ref) (to Ref, err error) {
	loaded, err := b.Load(ctx, from, nil)
	if err != nil {
		return to, err
	}
	if len(loaded.Snapshot.Resources) == 0 {
		return to, ErrNoProject
	}
	to = Ref{Project: loaded.Snapshot.Resources[0].URN.Project(), Stack: from.Stack}
	err = move(ctx, b, from, to, "state upgrade")
	if _, exists := errors.AsType[*ExistsError](err); exists {
		err = fmt.Errorf("%w, and has another state: the one of the old layout stays in %s", err,
			filepath.ToSlash(b.files.stateOf(from).file(Plain)))
	}
	return to, err
}
