package bundle

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// Map maps positions in a bundle to positions in its sources. It is immutable and safe for concurrent use.
type Map struct{ consumer *sourcemap.Consumer }

func readMap(text []byte) (*Map, error) {
	c, err := sourcemap.Parse("", text)
	if err != nil {
		return nil, err
	}
	return &Map{c}, nil
}

// Source returns the file, relative to the bundled folder, and the line of a position in the bundle. Lines are 1-based;
// column is 0-based in UTF-16 code units. A nil Map has no positions.
func (m *Map) Source(line, column int) (file string, i int, ok bool) {
	if m == nil {
		return "", 0, false
	}
	file, _, i, _, ok = m.consumer.Source(line, column)
	return file, i, ok && file != ""
}

// inputsOf returns the files in esbuild's metafile, sorted, without stubs and exportsFile.
func inputsOf(metafile string) []string {
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if json.Unmarshal([]byte(metafile), &meta) != nil {
		return nil
	}
	var files []string
	for name := range meta.Inputs {
		if !strings.HasPrefix(name, namespaceStub+":") && name != exportsFile {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}
