package backend

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// caselessDisk is a file system that keeps letter case and does not distinguish it, as on Windows and macOS.
type caselessDisk struct{ disk.Disk }

// find returns the path of what is there under a path in any letter case, and otherwise the path itself.
func (d caselessDisk) find(path string) string {
	found := "/"
	for part := range strings.SplitSeq(strings.Trim(filepath.ToSlash(path), "/"), "/") {
		names, _ := d.Disk.ReadDir(found)
		for _, name := range names {
			if name = strings.TrimSuffix(name, "/"); strings.EqualFold(name, part) {
				part = name
				break
			}
		}
		found = filepath.Join(found, part)
	}
	return found
}

func (d caselessDisk) ReadFile(p string) ([]byte, error)          { return d.Disk.ReadFile(d.find(p)) }
func (d caselessDisk) Open(p string) (io.ReadSeekCloser, error)   { return d.Disk.Open(d.find(p)) }
func (d caselessDisk) ReadDir(p string) ([]string, error)         { return d.Disk.ReadDir(d.find(p)) }
func (d caselessDisk) ModTime(p string) (time.Time, error)        { return d.Disk.ModTime(d.find(p)) }
func (d caselessDisk) Mkdir(p string) error                       { return d.Disk.Mkdir(d.find(p)) }
func (d caselessDisk) Create(p string) (journal.File, error)      { return d.Disk.Create(d.find(p)) }
func (d caselessDisk) Append(p string) (journal.File, error)      { return d.Disk.Append(d.find(p)) }
func (d caselessDisk) Rename(from, to string) error               { return d.Disk.Rename(d.find(from), d.find(to)) }
func (d caselessDisk) Link(from, to string) error                 { return d.Disk.Link(d.find(from), d.find(to)) }
func (d caselessDisk) Remove(p string) error                      { return d.Disk.Remove(d.find(p)) }
func (d caselessDisk) SyncDir(p string) error                     { return d.Disk.SyncDir(d.find(p)) }
func (d caselessDisk) Guard(p string) (release func(), free bool) { return d.Disk.Guard(d.find(p)) }
func (d caselessDisk) Guarding(p string) int                      { return d.Disk.Guarding(d.find(p)) }
func (d caselessDisk) ReadUnless(p string, seen disk.Stamp) ([]byte, disk.Stamp, error) {
	return d.Disk.ReadUnless(d.find(p), seen)
}

// On a file system that does not distinguish letter case, no operation on a stack reads or changes another one whose
// name differs from it only in that.
func TestStacksWithoutLetterCase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b, err := open("file:///state", testOptions(1), caselessDisk{newSimDisk()})
		require.NoError(rt, err)
		names := []Ref{{Project: "p", Stack: "dev"}, {Project: "p", Stack: "Dev"}, {Project: "P", Stack: "dev"},
			{Project: "p", Stack: "prod"}, {Project: "p", Stack: "PROD"}, {Project: "p", Stack: "7"}}
		same := func(x, y Ref) bool { return strings.EqualFold(x.String(), y.String()) }
		there := map[Ref]int{} // by the number of runs
		twin := func(r Ref) bool {
			for other := range there {
				if other != r && same(other, r) {
					return true
				}
			}
			return false
		}
		for range rapid.IntRange(1, 8).Draw(rt, "operations") {
			r := rapid.SampledFrom(names).Draw(rt, "stack")
			runs, exists := there[r]
			switch rapid.SampledFrom([]string{"create", "create", "run", "run", "remove", "rename"}).Draw(rt, "operation") {
			case "create":
				if err = b.Create(rt.Context(), r, nil); !exists && !twin(r) && !errors.As(err, new(*TwinError)) {
					require.NoError(rt, err)
					there[r] = 0
				}
			case "run":
				var s *Session
				if s, err = b.Begin(rt.Context(), r, b64Options); err == nil {
					next := *s.Base()
					next.Resources = append(next.Resources[:runs:runs], resource(runs))
					require.NoError(rt, s.Commit(rt.Context(), &next, nil))
					there[r]++
				}
			case "remove":
				if err = b.Remove(rt.Context(), r, RemoveOptions{Force: true}); err == nil {
					delete(there, r)
				}
			case "rename":
				to := rapid.SampledFrom(names).Draw(rt, "to")
				if err = b.Rename(rt.Context(), r, to); err == nil {
					require.False(rt, twin(to) || to == r)
					delete(there, r)
					there[to] = runs
				}
			}
			if twin(r) {
				require.Error(rt, err, "%v with %v", r, there)
			}
			for other, runs := range there {
				loaded, err := b.Load(rt.Context(), other, openB64)
				require.NoError(rt, err)
				var urns []urn.URN
				for _, res := range loaded.Snapshot.Resources {
					urns = append(urns, res.URN)
				}
				require.Len(rt, urns, runs, "%v after an operation on %v", other, r)
			}
		}
	})
}

// A folder that distinguishes letter case may come to one that does not: a new stack that could not go there is said.
func TestTwinsAreNoted(t *testing.T) {
	t.Parallel()
	o := testOptions(1)
	var notes []string
	o.Note = func(text string) { notes = append(notes, text) }
	b, err := Open("file://"+filepath.ToSlash(t.TempDir()), o)
	require.NoError(t, err)
	for _, name := range []string{"dev", "prod"} {
		require.NoError(t, b.Create(t.Context(), Ref{Project: "p", Stack: name}, nil))
	}
	require.Empty(t, notes)
	if err := b.Create(t.Context(), Ref{Project: "p", Stack: "Dev"}, nil); err != nil {
		require.ErrorAs(t, err, new(*TwinError)) // this file system is such a one
		return
	}
	require.NoError(t, b.Rename(t.Context(), Ref{Project: "p", Stack: "Dev"}, Ref{Project: "p", Stack: "PROD"}))
	require.Len(t, notes, 2)
	require.Contains(t, notes[0], `the stack "Dev" differs from "dev" only in letter case`)
	require.Contains(t, notes[1], `the stack "PROD" differs from "prod" only in letter case`)
}
