package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// RunWith makes the body of a command that takes at most one argument, which goes to *arg.
func RunWith[O any](a *Console, run func(context.Context, *Console, O) error, o O, arg *string) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return run(cmd.Context(), a, o)
	}
}

// Inside runs a command of this program as if it were started in a folder, without anybody to ask, and returns all that
// it writes. The error says that the command has failed; the text says why.
type Inside func(ctx context.Context, dir string, args ...string) (string, error)

// NewInside returns what runs commands of this program in this process. They share the connections to where state
// lives, and the keys of passphrases.
func NewInside(a *Console) Inside {
	w := a.World
	w.Signals, w.Stores, w.Keys = nil, NewOpenStores(), &secrets.Keyring{}
	return func(ctx context.Context, dir string, args ...string) (string, error) {
		var out bytes.Buffer
		w := w
		w.Dir = dir
		streams := Streams{In: strings.NewReader(""), Out: &out, Err: &out}
		args = append([]string{"--non-interactive", "--color", "never"}, args...)
		if code := a.Execute(ctx, args, streams, w); code != CodeOK {
			return out.String(), fmt.Errorf("%s failed with exit code %d", strings.Join(args, " "), code)
		}
		return out.String(), nil
	}
}

// Beside returns a console for one of the stacks of a command that works on several. Its output goes to out and err,
// its reports to reports. It asks no questions and leaves the log of a CI system to a. It shares the signals of a.
func Beside(a *Console, out, err io.Writer, reports *report.Set) *Console {
	c := &Console{World: a.World, Global: a.Global, Signals: a.Signals, Texts: a.Texts}
	c.Global.NonInteractive = true
	c.Crashes = &Crashes{Console: a}
	c.GuardStreams(Streams{In: strings.NewReader(""), Out: out, Err: err})
	c.Reports = Reports{Set: reports, console: c}
	return c
}
