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

// RunWith returns the body of a command that takes at most one argument and stores it in *arg.
func RunWith[O any](a *Console, run func(context.Context, *Console, O) error, o O, arg *string) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			*arg = args[0]
		}
		return run(cmd.Context(), a, o)
	}
}

// Inside runs a command of this program in folder dir, non-interactively, and returns everything that the command
// writes. The error is non-nil if the command fails; the text then holds the reason.
type Inside func(ctx context.Context, dir string, args ...string) (string, error)

// NewInside returns a function that runs commands of this program in this process. These commands share connections to
// backends and the keys derived from passphrases.
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

// Beside returns a console for one stack of a command that works on several. It writes output to out and err and
// reports to reports. It asks no questions, shares the signals of a, and leaves the log of a CI system to a.
func Beside(a *Console, out, err io.Writer, reports *report.Set) *Console {
	c := &Console{World: a.World, Global: a.Global, Signals: a.Signals, Texts: a.Texts}
	c.Global.NonInteractive = true
	c.Crashes = &Crashes{Console: a}
	c.GuardStreams(Streams{In: strings.NewReader(""), Out: out, Err: err})
	c.Reports = Reports{Set: reports, console: c}
	return c
}
