package backend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// An operation without changes writes only its record. The state file stays, and the checkpoint of the record is a link
// to the previous checkpoint.
func TestUnchangedWritesOnlyItsRecord(t *testing.T) {
	t.Parallel()
	for _, packing := range extensions {
		for name, links := range map[string]bool{"links": true, "no links": false} {
			t.Run(string(packing)+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				o := testOptions(1)
				o.Compression = packing
				var written []string
				b, err := open("file://"+dir, o, disktest.Faulty(without{disk.Real{}, !links}, func(do, path string,
					done bool) error {
					if do == "write" && !done {
						name, _, _ := strings.Cut(filepath.Base(path), disk.TemporarySuffix)
						written = append(written, strings.TrimLeft(name, "dev-.0123456789"))
					}
					return nil
				}))
				require.NoError(t, err)
				require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
				run := func(change bool) []string {
					written = nil
					s := begin(t, b)
					if change {
						id := journal.ID(len(s.Base().Resources) + 1)
						require.NoError(t, s.Append(t.Context(),
							journal.Entry{Add: []journal.Amended{{ID: id, Resource: resource(int(id))}}}))
					}
					require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded"}))
					require.True(t, s.Written())
					return written
				}
				run(true)
				path := b.files.stateOf(testRef).file(packing)
				before, err := os.Stat(path)
				require.NoError(t, err)
				backups := len(b.files.historyOf(testRef).within("backups"))
				lock := "lock"
				record := "history.json" + string(packing)
				for range 3 {
					wrote := run(false)
					if links {
						require.Equal(t, []string{lock, record}, wrote)
					} else {
						require.Equal(t, []string{lock, record, "checkpoint.json" + string(packing)}, wrote)
					}
				}
				after, err := os.Stat(path)
				require.NoError(t, err)
				require.True(t, os.SameFile(before, after), "the state file stays")
				require.Len(t, b.files.historyOf(testRef).within("backups"), backups, "there is a backup of it")

				records, err := b.History(t.Context(), testRef, 0)
				require.NoError(t, err)
				require.Len(t, records, 4)
				checkpoints := b.files.historyOf(testRef).copies("history", "dev-", ".checkpoint.json")
				require.Len(t, checkpoints, 4, "each record has its checkpoint")
				state := testfile.Bytes(t, path)
				for _, c := range checkpoints {
					data := testfile.Bytes(t, c.path)
					require.Equal(t, state, data)
				}
				info, err := os.Stat(checkpoints[0].path)
				require.NoError(t, err)
				require.False(t, os.SameFile(info, after), "who edits the state by hand leaves the history alone")

				wrote := run(true)
				require.Contains(t, wrote, "json"+string(packing), "the state is written")
				require.Contains(t, wrote, "checkpoint.json"+string(packing))
				require.Len(t, b.files.historyOf(testRef).within("backups"), backups+1)
				kept := testfile.Bytes(t, path+".bak")
				require.Equal(t, state, kept, "the previous state")
				require.Len(t, wrote, map[bool]int{true: 7, false: 9}[links],
					"lock, three pieces of the journal, state, record and checkpoint; copies without links: %v", wrote)
				for _, folder := range []string{"stacks/p", "history/p/dev", "backups/p/dev"} {
					names, err := os.ReadDir(filepath.Join(dir, ".pulumi", folder))
					require.NoError(t, err)
					for _, n := range names {
						require.NotContains(t, n.Name(), disk.TemporarySuffix)
					}
				}
			})
		}
	}
}

// without is a disk on which Link fails if links is set.
type without struct {
	disk.Disk
	links bool
}

func (d without) Link(from, to string) error {
	if d.links {
		return os.ErrInvalid
	}
	return d.Disk.Link(from, to)
}

// A state that another program has written since is written to the history in full.
func TestUnchangedAfterAnImport(t *testing.T) {
	t.Parallel()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	require.NoError(t, other(b, 1))
	path := filepath.Join(dir, "stacks/p/dev.json")
	text := strings.Replace(read(t, path), `"urn"`, ` "urn"`, 1)
	put(t, path, text)
	s := begin(t, b)
	require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded"}))
	require.NotEqual(t, text, read(t, path), "it is not as it would be written")
	last := b.files.historyOf(testRef).copies("history", "dev-", ".checkpoint.json")[0]
	require.Equal(t, read(t, path), read(t, last.path))
}

// Any difference except the order of resources makes Commit write the state. The comparison does not encode the states.
func TestWhatIsUnchanged(t *testing.T) {
	t.Parallel()
	type snapshot = state.Snapshot
	for what, test := range map[string]struct {
		change func(*snapshot, *BeginOptions)
		writes bool
	}{
		"nothing":   {func(*snapshot, *BeginOptions) {}, false},
		"the order": {func(s *snapshot, _ *BeginOptions) { slices.Reverse(s.Resources) }, false},
		"a place": {func(s *snapshot, _ *BeginOptions) {
			s.Resources[0].SourcePosition = "project:///a#1"
		}, true},
		"a property":   {func(s *snapshot, _ *BeginOptions) { s.Resources[0].Outputs = s.Resources[0].Inputs }, true},
		"fewer":        {func(s *snapshot, _ *BeginOptions) { s.Resources = s.Resources[1:] }, true},
		"all are gone": {func(s *snapshot, _ *BeginOptions) { s.Resources = nil }, true},
		"metadata":     {func(s *snapshot, _ *BeginOptions) { s.Metadata = []byte(`{"a":1}`) }, true},
		"extensions":   {func(s *snapshot, _ *BeginOptions) { s.Extensions = []byte(`{"a":1}`) }, true},
		"a pending step": {func(s *snapshot, _ *BeginOptions) {
			s.Pending = []state.Operation{{Resource: resource(9), Kind: state.Creating}}
		}, true},
		"unknown members": {func(s *snapshot, _ *BeginOptions) {
			s.Unknown = map[string]json.RawMessage{"a": []byte("1")}
		}, true},
		"how it is sealed": {func(_ *snapshot, o *BeginOptions) { o.Secrets = otherB64{} }, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b, dir := newBackend(t)
			require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
			require.NoError(t, other(b, 1))
			require.NoError(t, other(b, 2))
			path := filepath.Join(dir, "stacks/p/dev.json")
			before := read(t, path)
			begin := func(o BeginOptions) *Session {
				s, err := b.Begin(t.Context(), testRef, o)
				require.NoError(t, err)
				return s
			}
			o := b64Options
			test.change(&state.Snapshot{Resources: []*state.Resource{resource(1), resource(2)}}, &o)
			s := begin(o)
			final := *s.Base()
			final.Resources = []*state.Resource{final.Resources[0].Clone(), final.Resources[1].Clone()}
			test.change(&final, &o)
			require.NoError(t, s.Commit(t.Context(), &final, nil))
			require.Equal(t, test.writes, read(t, path) != before)
		})
	}
}

// otherB64 is B64 under another name.
type otherB64 struct{ secrets.B64 }

func (otherB64) Type() string { return "other" }
