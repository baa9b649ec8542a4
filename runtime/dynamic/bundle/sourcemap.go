package bundle

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-sourcemap/sourcemap"
)

// Map leads from a place in a bundle to one in its sources. It is immutable and safe for concurrent use.
type Map struct{ consumer *sourcemap.Consumer }

func readMap(text []byte) (*Map, error) {
	c, err := sourcemap.Parse("", text)
	if err != nil {
		return nil, err
	}
	return &Map{c}, nil
}

// Source finds the file, relative to the bundled folder, and the line that a place in the bundle came from. Line is
// 1-based, column is 0-based in UTF-16 code units. A nil Map knows nothing.
func (m *Map) Source(line, column int) (file string, i int, ok bool) {
	if m == nil {
		return "", 0, false
	}
	file, _, i, _, ok = m.consumer.Source(line, column)
	return file, i, ok && file != ""
}

// inputsOf lists the files that esbuild's metafile names, without those whose text is ours.
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
