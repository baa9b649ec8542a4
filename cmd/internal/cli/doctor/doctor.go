package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
)

// A grade rates a part of the machine.
type grade string

const (
	fine  grade = "ok"
	note  grade = "note"  // works, but with limitations
	wrong grade = "wrong" // something will fail
)

// A finding is the result of one check of the machine. Part and Text are for people, Grade is what a script looks at.
type finding struct {
	Part  string `json:"part"`
	Grade grade  `json:"grade"` // ok, note or wrong
	Text  string `json:"text"`
	Way   string `json:"way,omitempty"` // solution; empty if there is no problem
}

// NewDoctor returns the command `doctor`.
func NewDoctor(a *console.Console) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check this machine for problems", Args: console.NoArguments,
		Long: "doctor looks at PATH, the shell, plugins, the backend, the clock and the terminal, and reports " +
			"each problem with its solution. It writes a small file to the backend and removes it again. If " +
			"something is wrong, the exit code is 1.",
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

// examination holds all findings about a machine.
type examination struct {
	Wrong    int       `json:"wrong"` // number of findings with the grade wrong
	Findings []finding `json:"findings"`
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[examination]("machine", "the problems of a machine", "`doctor --json`"),
}

// examine checks every part of the machine and shows the findings.
func examine(ctx context.Context, a *console.Console, asJSON bool) error {
	found := []finding{inspectPath(a), inspectShell(a)}
	found = append(found, inspectPlugins(install.Resources(a.World.PulumiHome()))...)
	found = append(found, inspectBackend(ctx, a)...)
	found = append(found, inspectTerminal(a))
	bad := 0
	for _, f := range found {
		if f.Grade == wrong {
			bad++
		}
	}
	err := a.Show(asJSON, examination{Wrong: bad, Findings: found}, func(table io.Writer) {
		for _, f := range found {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Grade, f.Part, f.Text)
			if f.Way != "" {
				fmt.Fprintf(table, "\t\t%s\n", f.Way)
			}
		}
	})
	if err != nil {
		return err
	}
	if bad > 0 {
		// Notes do not fail the command: the machine works.
		things := "one thing is"
		if bad > 1 {
			things = fmt.Sprintf("%d things are", bad)
		}
		return console.WithCode(console.CodeError, "%s wrong with this machine", things)
	}
	return nil
}

// onPath returns the first program called name in the folders of PATH, or "" if there is none.
func onPath(a *console.Console, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	// The PATH is the one of the console's world, as tests have their own.
	for _, dir := range filepath.SplitList(a.World.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && isProgram(info) {
			return path
		}
	}
	return ""
}

// isProgram reports whether a file can be started. On Windows its name decides that, which the callers choose.
func isProgram(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// inspectPath checks which yamlhost a shell would start.
func inspectPath(a *console.Console) finding {
	f := finding{Part: "PATH", Grade: fine}
	program := onPath(a, "yamlhost")
	switch {
	case a.World.Getenv("PATH") == "":
		f.Grade, f.Text, f.Way = wrong, "it is empty, so no plugin and no command is found",
			"set PATH in the settings of your shell"
	case program == "":
		f.Grade, f.Text, f.Way = note, "yamlhost is not on it", "add the folder that it is in to PATH"
		if a.World.Self != "" {
			f.Way = "add " + filepath.Dir(a.World.Self) + " to PATH to call it from everywhere"
		}
	// The shell would start another file than the one that answers here.
	case a.World.Self != "" && !same(program, a.World.Self):
		f.Grade, f.Text = note, "this is "+a.World.Self+", but PATH has "+program+" first"
		f.Way = "remove one of them, or change the order of PATH"
	default:
		f.Text = "yamlhost is " + program
	}
	return f
}

// same reports whether two paths lead to one file.
func same(first, other string) bool {
	a, errA := os.Stat(first)
	b, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// inspectShell checks for the shell that runs local commands by default.
func inspectShell(a *console.Console) finding {
	path := "/bin/sh"
	if runtime.GOOS == "windows" {
		path = onPath(a, "cmd")
	}
	return shellFinding(path)
}

// shellFinding checks a shell at a path.
func shellFinding(path string) finding {
	if info, err := os.Stat(path); err != nil || !isProgram(info) {
		return finding{"shell", note, "there is no shell for resources of the type command:local:Command",
			"install one as /bin/sh, or set `interpreter` in such resources"}
	}
	return finding{Part: "shell", Grade: fine, Text: "local commands are started by " + path}
}

// inspectPlugins checks for installed plugins that cannot be started.
func inspectPlugins(installed []install.Plugin) []finding {
	var broken []finding
	for _, p := range installed {
		program := filepath.Join(p.Path, "pulumi-resource-"+p.Name)
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		// A plugin in a language has no executable of its own; its runtime starts it.
		if _, err := os.Stat(filepath.Join(p.Path, "PulumiPlugin.yaml")); err == nil {
			continue
		}
		if info, err := os.Stat(program); err == nil && isProgram(info) {
			continue
		}
		broken = append(broken, finding{"plugins", wrong, fmt.Sprintf("%s %s has no program %s that can be started", p.Name,
			p.Version, program),
			fmt.Sprintf("yamlhost plugin rm resource %s %s, and it is fetched anew when it is needed", p.Name, p.Version)})
	}
	if len(broken) > 0 {
		return broken
	}
	return []finding{{Part: "plugins", Grade: fine,
		Text: fmt.Sprintf("%d installed; built in are %s", len(installed), strings.Join(embedded.Names(), ", "))}}
}

// skew is the largest allowed difference between the clocks of this machine and the backend.
const skew = 5 * time.Minute

// inspectBackend checks whether stacks can be listed and written, and compares the clocks of both sides.
func inspectBackend(ctx context.Context, a *console.Console) []finding {
	bad := func(err error, way string) []finding {
		return []finding{{"backend", wrong, err.Error(), way}}
	}
	b, err := a.Backends().Here()
	if err != nil {
		return bad(err, "choose another with PULUMI_BACKEND_URL or `yamlhost login`, or make the folder")
	}
	stacks, err := b.Stacks(ctx, "")
	if err != nil {
		return bad(err, "make sure that you may read it")
	}
	// The local times around the write bound the moment in which the backend stamped the file. They are the system's,
	// not World.Now, which may stand still in tests: the backend's clock does not.
	before := time.Now()
	written, err := b.Probe()
	if err != nil {
		return bad(err, "make sure that you may write there and that there is free space")
	}
	return []finding{{Part: "backend", Grade: fine, Text: fmt.Sprintf("%s can be read and written; it has %s",
		b.PublicURL(), diag.Count(len(stacks), "stack"))},
		clock(before, written, time.Now())}
}

// clock compares the clocks of machine and backend. written is the time that the backend gave to a file that was
// written between the local times before and after. A smaller difference than skew is normal.
func clock(before, written, after time.Time) finding {
	f := finding{Part: "clock", Grade: fine, Text: "it agrees with the backend's clock"}
	switch {
	// Only what cannot be explained by the time that the write took counts.
	case written.Before(before.Add(-skew)):
		f.Text = fmt.Sprintf("it is %s ahead of the backend's", view.Seconds(before.Sub(written)))
	case written.After(after.Add(skew)):
		f.Text = fmt.Sprintf("it is %s behind the backend's", view.Seconds(written.Sub(after)))
	default:
		return f
	}
	f.Grade, f.Way = wrong, "set the clock of this machine; credentials, certificates and locks depend on it"
	return f
}

// inspectTerminal checks whether questions and colours are possible.
func inspectTerminal(a *console.Console) finding {
	f := finding{Part: "terminal", Grade: fine}
	switch columns, lines := a.Size(); {
	case !a.Interactive():
		f.Grade, f.Text, f.Way = note, "there is none, so no questions are asked", "`up` and `destroy` need --yes here"
	case a.World.Getenv("TERM") == "" && runtime.GOOS != "windows", a.World.Getenv("TERM") == "dumb":
		f.Grade, f.Text, f.Way = note, "its abilities are not known, so output has no colour",
			"set TERM, to xterm-256color for example"
	default:
		f.Text = fmt.Sprintf("%d columns, %d lines", columns, lines)
	}
	return f
}
