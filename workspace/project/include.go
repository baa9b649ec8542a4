package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Includer finds the texts that the section include of a program names (L10.C11): patterns are relative to the
// program's directory dir, name turns a path into the form that users see, and allow returns an error for a path that
// may not be read. Each call returns the same source for the same text. It is not safe for concurrent use.
func Includer(dir string, name func(path string) string, allow func(path string) error) func(pattern string) (
	[]*diag.Source, error) {
	known := make(map[string]*diag.Source)
	return func(pattern string) ([]*diag.Source, error) {
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, errors.New("the pattern is malformed")
		}
		slices.Sort(paths)
		var found []*diag.Source
		for _, path := range paths {
			if known[path] == nil {
				if err := allow(path); err != nil {
					return nil, err
				}
				info, err := os.Stat(path)
				if err == nil && info.IsDir() {
					continue
				}
				text, err := os.ReadFile(path)
				if err != nil {
					if reason, ok := errors.AsType[*fs.PathError](err); ok {
						err = reason.Err
					}
					return nil, fmt.Errorf("%s: %w", name(path), err)
				}
				known[path] = diag.NewSource(name(path), StripBOM(text))
			}
			found = append(found, known[path])
		}
		return found, nil
	}
}
