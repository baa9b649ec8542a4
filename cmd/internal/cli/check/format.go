package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// formatOptions are the arguments and flags of the command fmt.
type formatOptions struct {
	targets []string
	check   bool
	diff    bool
	order   bool
}

// NewFormat returns the command fmt.
func NewFormat(a *console.Console) *cobra.Command {
	o := &formatOptions{}
	cmd := &cobra.Command{
		Use:   "fmt [DIR or FILE]...",
		Short: "Bring programs into one form: indentation and spacing",
		Long: "fmt changes white space only: two columns for each level, one space after a colon, no spaces at " +
			"the end of lines, at most one empty line in a row. Comments, order, quotes and meaning stay the " +
			"same. A file with syntax errors is left unchanged. A folder stands for the files of its program; " +
			"- reads standard input and writes the result to standard output. With --check it exits with 1 if " +
			"a file would change. With --sections it also sorts the sections of a program: project fields, " +
			"configuration, components, variables, resources, outputs.",
		RunE: func(_ *cobra.Command, args []string) error {
			if o.targets = args; len(args) == 0 {
				o.targets = []string{"."}
			}
			return format(a, o)
		},
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "change nothing; name the files that would change")
	cmd.Flags().BoolVar(&o.order, "sections", false,
		"put the sections into the usual order too, with the comments above them")
	cmd.Flags().BoolVar(&o.diff, "diff", false, "change nothing; show what would change")
	return cmd
}

// format formats the files of all targets.
func format(a *console.Console, o *formatOptions) error {
	changed, broken := false, diag.Diagnostics{}
	for _, target := range o.targets {
		// "-" stands for standard input, of which there is no program.
		paths, err := []string{"-"}, error(nil)
		if target != "-" {
			paths, err = programFiles(a, target)
		}
		if err != nil {
			return err
		}
		for _, path := range paths {
			src, err := sourceOf(a, path)
			if err != nil {
				return err
			}
			// With findings the text comes back as it was, so that nothing differs.
			formatted, found := o.format(src)
			broken.Add(found...)
			differs := !bytes.Equal(src.Text(), formatted)
			changed = changed || differs
			// Each way to report is a case; only the last two change anything.
			switch {
			case o.diff && differs:
				_, err = a.Streams.Out.Write(diff.Diff(src.Name(), src.Text(), src.Name()+" (formatted)", formatted))
			case o.check && differs:
				_, err = fmt.Fprintln(a.Streams.Out, src.Name())
			case o.diff || o.check:
			case path == "-":
				_, err = a.Data().Write(formatted)
			case differs:
				err = replaceFile(a, src, formatted)
			}
			if err != nil {
				return err
			}
		}
	}
	// A file with syntax errors does not keep the others from being formatted.
	if len(broken) > 0 {
		return a.Report(broken)
	}
	// The exit code of --check is what hooks of git and CI look at.
	if changed && (o.check || o.diff) {
		return console.ErrReported
	}
	return nil
}

// format returns the formatted text of a source, with its declarations reordered first if that was requested.
func (o *formatOptions) format(src *diag.Source) ([]byte, diag.Diagnostics) {
	if !o.order {
		return parser.Format(src)
	}
	// Sections first: the rules about empty lines are those of the lines as they stand then.
	arranged, found := parser.Arrange(src)
	if found.HasErrors() {
		return arranged, found
	}
	return parser.Format(diag.NewSource(src.Name(), arranged))
}

// sourceOf reads a file, or standard input if path is "-".
func sourceOf(a *console.Console, path string) (*diag.Source, error) {
	if path == "-" {
		text, err := io.ReadAll(a.Streams.In)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return diag.NewSource("<stdin>", text), nil
	}
	text, err := confine.Anywhere().ReadFile(context.Background(), path)
	return diag.NewSource(a.Short(path), text), err
}

// programFiles returns the files of a program, or target itself if it is a file.
func programFiles(a *console.Console, target string) ([]string, error) {
	path := a.Path(target)
	// A file is formatted even if it is no part of a program.
	if info, err := confine.Anywhere().Stat(path); err == nil && !info.IsDir() {
		return []string{path}, nil
	}
	ws, err := a.OpenTarget(target, a.Looking())
	if err != nil {
		return nil, err
	}
	paths := []string{ws.Project.Path}
	// The project file and the program are often the same file.
	if ws.Program.Path != "" && ws.Program.Path != ws.Project.Path {
		paths = append(paths, ws.Program.Path)
	}
	if ws.Source == nil {
		return paths, nil
	}
	ws.Parse(nil) // finds the files that the program includes
	for _, part := range ws.Parts {
		// Files that lie outside of the project, which it includes by a path with `..`, belong to somebody else.
		if file := a.Path(part.Name()); filepath.Dir(file) == ws.Dir() || filepath.IsLocal(part.Name()) {
			paths = append(paths, file)
		}
	}
	return paths, nil
}
