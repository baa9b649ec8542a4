package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// SnapshotSuffix replaces Suffix in the name of the file with a test file's snapshots.
const SnapshotSuffix = ".test.snapshot.json"

// snapshots holds the snapshots of a test file, by case. mu guards the fields below.
type snapshots struct {
	mu    sync.Mutex
	known map[string]json.RawMessage // read from the file
	now   map[string]json.RawMessage // of the cases run so far
	err   error                      // error of reading the file
}

// snapshotPath returns the path of the file with a test file's snapshots.
func (f *File) snapshotPath() string {
	return f.Dir + "/" + strings.TrimSuffix(path.Base(f.Source.Name()), Suffix) + SnapshotSuffix
}

// snapshotsOf reads the snapshots of a test file, once.
func (r *Runner) snapshotsOf(f *File) *snapshots {
	r.mu.Lock()
	defer r.mu.Unlock()
	file := f.snapshotPath()
	if s := r.snapshots[file]; s != nil {
		return s
	}
	s := &snapshots{known: map[string]json.RawMessage{}, now: map[string]json.RawMessage{}}
	text, err := confine.Anywhere().ReadFile(context.Background(), file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.err = err
	default:
		if err := json.Unmarshal(text, &s.known); err != nil {
			s.err = fmt.Errorf("%s is no file of snapshots: %w; correct it, or move it away and run the tests with --update",
				file, err)
		}
	}
	if r.snapshots == nil {
		r.snapshots = map[string]*snapshots{}
	}
	r.snapshots[file] = s
	return s
}

// snapshot compares the resources and outputs of the run with the snapshot of the case. Secrets are masked.
func (t *trial) snapshot() {
	m := t.innermost("snapshot")
	if m.value == nil {
		return
	}
	entries := []value.Entry{}
	for _, res := range t.managed() {
		entries = append(entries, value.Entry{Key: res.Type + "::" + res.URN.Name(), Value: value.MapOf(
			value.Entry{Key: "properties", Value: res.Inputs}, value.Entry{Key: "outputs", Value: res.Outputs})})
	}
	made := value.MapOf(value.Entry{Key: "outputs", Value: t.after.outputs},
		value.Entry{Key: "resources", Value: value.MapOf(entries...)})
	var text bytes.Buffer
	if err := json.Indent(&text, []byte(shown(t.known.HideValue(made))), "  ", "  "); err != nil {
		t.broken(m.value, err)
		return
	}
	s := t.runner.snapshotsOf(t.c.file)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[t.c.Name] = text.Bytes()
	if s.err != nil {
		t.broken(m.value, s.err)
		return
	}
	if t.runner.Update {
		return
	}
	before, ok := s.known[t.c.Name]
	if !ok {
		t.fail(m.at, "there is no snapshot of this case", "write it with: yamlhost test --update")
		return
	}
	if want, got := compact(before), compact(text.Bytes()); want != got {
		t.fail(m.at, "the snapshot differs", lineDiff(lines(before), lines(text.Bytes()))+
			"\nif that is right, write it anew with: yamlhost test --update")
	}
}

func compact(text []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return string(text)
	}
	return b.String()
}

// lines breaks valid JSON into lines without an indentation, whose size would be the square of the depth of nesting.
func lines(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "") // which fails only for a text that is not JSON
	return b.Bytes()
}

// lineDiff returns the lines in which two texts differ. Lines of the first text begin with a minus, lines of the second
// with a plus.
func lineDiff(a, b []byte) string {
	var lines []string
	_, hunks, _ := strings.Cut(string(diff.Diff("", a, "", b)), "\n@@") // skip the file names
	for line := range strings.SplitSeq(hunks, "\n") {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			lines = append(lines, line[:1]+" "+strings.TrimSpace(line[1:]))
		}
	}
	return strings.Join(lines, "\n")
}

// FinishSnapshots writes the snapshots if Update is set. Otherwise it reports snapshots that belong to no case,
// provided that all is set: every case of the files has been run.
func (r *Runner) FinishSnapshots(files []*File, all bool) (found diag.Diagnostics, _ error) {
	for _, f := range files {
		s := r.snapshotsOf(f)
		if !r.Update {
			for _, name := range slices.Sorted(maps.Keys(s.known)) {
				if _, used := s.now[name]; all && !used {
					found.Add(diag.Diagnostic{Subject: diag.NewRange(f.Source, 0, 0), Summary: "the snapshot of the case `" + name +
						"` belongs to no case", Detail: "remove it with: yamlhost test --update"})
				}
			}
			continue
		}
		next := maps.Clone(s.now)
		if !all {
			next = maps.Clone(s.known)
			maps.Copy(next, s.now)
		}
		if len(next) == 0 && len(s.known) == 0 {
			continue
		}
		text, err := json.MarshalIndent(next, "", "  ")
		if err != nil {
			return found, err
		}
		if err := os.WriteFile(f.snapshotPath(), append(text, '\n'), 0o644); err != nil {
			return found, err
		}
	}
	return found, nil
}
