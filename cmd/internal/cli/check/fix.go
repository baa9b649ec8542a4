package check

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/google/renameio/v2/maybe"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// maxFixing bounds how often fixing is tried again: what was fixed may bring to light what it had hidden.
const maxFixing = 10

// fixTarget applies the fixes of findings, looks again, and answers what is left.
func fixTarget(a *console.Console, ds diag.Diagnostics, again func() (diag.Diagnostics, error)) (diag.Diagnostics,
	error) {
	total := 0
	for range maxFixing {
		fixed, err := fixFiles(a, ds)
		if err != nil {
			return nil, err
		}
		if fixed == 0 {
			break
		}
		total += fixed
		if ds, err = again(); err != nil {
			return nil, err
		}
	}
	if total > 0 {
		fmt.Fprintf(a.Streams.Err, "fixed %s\n", diag.Count(total, "finding"))
	}
	return ds, nil
}

// fixFiles applies the fixes of findings to their files and answers how many. A file that has changed since it was read
// is left alone.
func fixFiles(a *console.Console, ds diag.Diagnostics) (int, error) {
	total := 0
	done := make(map[*diag.Source]bool)
	for _, d := range ds {
		src := d.Subject.Source
		if src == nil || done[src] || len(d.Fixes) == 0 {
			continue
		}
		done[src] = true
		text, n := diag.ApplyFixes(src, ds)
		if n == 0 {
			continue
		}
		if err := replaceFile(a, src, text); err != nil {
			return total, fmt.Errorf("fix %s: %w", src.Name(), console.PlainError(err))
		}
		total += n
	}
	return total, nil
}

// replaceFile gives a file that was read another text, unless it has changed since.
func replaceFile(a *console.Console, src *diag.Source, text []byte) error {
	path := a.Path(src.Name())
	release, err := a.Hold(path)
	if err != nil {
		return err
	}
	defer release()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	read := project.StripBOM(now) // which is no part of the text, and stays
	if err != nil || string(read) != string(src.Text()) && string(now) != string(src.Text()) {
		return errors.New("the file has changed meanwhile")
	}
	if len(src.Text()) == len(read) {
		text = slices.Concat(now[:len(now)-len(read)], text)
	}
	return maybe.WriteFile(path, text, info.Mode().Perm())
}
