package operation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Commit ends a session. A state that cannot be written goes into a rescue file, wherever there is room for one.
func (p *Pipeline) Commit(ctx context.Context, session *backend.Session, final *state.Snapshot,
	record *backend.Record) error {
	err := session.Commit(context.WithoutCancel(ctx), final, record)
	var unreadable *backend.UnreadableError
	if !errors.As(err, new(*backend.FileError)) && !errors.As(err, &unreadable) || session.Written() {
		return err
	}
	text, complete, failed := session.Rescue(final)
	if failed != nil {
		return errors.Join(err, fmt.Errorf("make a rescue file of the state: %w", failed))
	}
	name := fmt.Sprintf("%s.%s.rescue-%d.json", p.Workspace.Project.Name.Text, p.Stack.Ref.Stack, p.Console.Now().Unix())
	for _, dir := range []string{p.Workspace.Project.Dir, p.Console.World.Dir, p.Console.World.Home, os.TempDir()} {
		path := filepath.Join(dir, name)
		if dir == "" || writeRescue(path, text) != nil {
			continue
		}
		out := p.Console.Streams.Err
		fmt.Fprintf(out, "The state could not be written. It is kept, secrets sealed, in the rescue file\n  %s\n", path)
		switch {
		case errors.Is(err, backend.ErrChanged):
			fmt.Fprintf(out,
				"Another program has written the state meanwhile, without a lock. Compare both states and keep "+
					"one; this one is restored with: yamlhost stack import --file %s\n", path)
		case unreadable != nil:
			fmt.Fprintf(out,
				"The state file is what it was before this run, and the journal stays. This is a fault of yamlhost: keep both "+
					"files and report it. The next run tries again; until it succeeds, the rescue file has the current state.\n")
		case complete:
			fmt.Fprintf(out,
				"Nothing is lost: the journal has it too. Correct the problem with the folder, and run the next "+
					"command as usual.\n")
		default:
			fmt.Fprintf(out,
				"Correct the problem with the folder, and restore the state before you run anything else: yamlhost stack "+
					"import --file %s\n", path)
		}
		return err
	}
	return errors.Join(err, errors.New("a rescue file could not be written either"))
}

func writeRescue(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // half a rescue is none
	}
	return err
}
