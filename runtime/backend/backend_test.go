package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func newBackend(t *testing.T, change ...func(*Options)) (*Backend, string) {
	t.Helper()
	dir, o := t.TempDir(), testOptions(1)
	for _, c := range change {
		c(&o)
	}
	b, err := Open("file://"+filepath.ToSlash(dir), o)
	require.NoError(t, err)
	return b, filepath.Join(dir, ".pulumi")
}

// begin begins an operation on the stack of tests.
func begin(t interface {
	testfile.T
	Context() context.Context
}, b *Backend) *Session {
	t.Helper()
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	return s
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func vector(t *testing.T, name string) string {
	t.Helper()
	return testfile.Text(t, "testdata/"+name)
}

// filesBelow returns the paths of all files below dir, relative to dir.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	}))
	return paths
}

func TestOpen(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "x y"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(work, "rel"), 0o700))
	o := Options{Home: home, WorkDir: work}
	for url, want := range map[string]string{ // F6.1
		"file://~":                         home,
		"file://~/x%20y":                   filepath.Join(home, "x y"),
		"file://~?no_tmp_dir=true":         home,
		"file://rel":                       filepath.Join(work, "rel"),
		"file://./rel":                     filepath.Join(work, "rel"),
		"file://" + filepath.ToSlash(work): work,
		"file://~/later?create_dir=true":   filepath.Join(home, "later"),
	} {
		b, err := Open(url, o)
		require.NoError(t, err, url)
		require.Equal(t, filepath.Join(want, ".pulumi"), b.Folder(), url)
		require.Equal(t, url, b.URL())
	}
	require.Empty(t, filesBelow(t, home), "opening writes nothing, F6.3")
	var unsupported *UnsupportedURLError
	for _, url := range []string{"s3://b", "gs://b", "azblob://b", "postgres://h/d", "https://api.pulumi.com", "mem://",
		"/tmp"} {
		_, err := Open(url, o)
		require.ErrorAs(t, err, &unsupported, url)
		require.ErrorContains(t, err, "not supported by this build")
	}
	_, err := Open("file://~/missing", o)
	var fault *FileError
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "create the folder")
	for _, url := range []string{"file://", "file://%zz", "file://~?a=%zz"} {
		_, err = Open(url, o)
		require.Error(t, err, url)
	}
}

func TestLayouts(t *testing.T) { // F6.3, F6.5
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"future":       {"meta.yaml", "version: 2\n", "layout 2"},
		"no version":   {"meta.yaml", "foo: bar\n", "the file should have the folder's layout; if"},
		"legacy":       {"meta.yaml", "version: 0\n", "state upgrade"},
		"legacy stack": {"stacks/dev.json", "{}", "state upgrade"},
		"ours":         {"meta.yaml", vector(t, "meta.yaml"), ""},
		"with comment": {"meta.yaml", "# x\nversion: 1 # y\n", ""},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, ".pulumi", c.file), c.text)
		_, err := Open("file://"+filepath.ToSlash(dir), Options{})
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		var layout *LayoutError
		require.ErrorAs(t, err, &layout, name)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestParseRef(t *testing.T) { // F6.14
	t.Parallel()
	b, _ := newBackend(t)
	for text, want := range map[string]Ref{
		"dev": {Project: "p", Stack: "dev"}, "organization/dev": {Project: "p", Stack: "dev"},
		"organization/q/dev": {Project: "q", Stack: "dev"}, "a.b_c-1": {Project: "p", Stack: "a.b_c-1"},
	} {
		got, err := b.ParseRef(text, "p")
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	require.Equal(t, "organization/p/dev", Ref{Project: "p", Stack: "dev"}.QualifiedName())
	for _, text := range []string{"", "acme/dev", "acme/q/dev", "organization/a/b/c", "..", "organization/../dev", "a b",
		"ä",
		"organization/p/", strings.Repeat("x", 101)} {
		_, err := b.ParseRef(text, "p")
		require.Error(t, err, text)
	}
	_, err := b.Load(t.Context(), Ref{Project: "..", Stack: "x"}, nil)
	require.ErrorContains(t, err, "cannot be the name of a project")
}

func TestCreateListRemove(t *testing.T) { // F6.4, F6.6, F6.14, E6.1
	t.Parallel()
	b, dir := newBackend(t)
	provider := &state.SecretsProvider{Type: "passphrase", State: json.RawMessage(`{"salt":"v1:a:v1:b:c"}`)}
	require.NoError(t, b.Create(t.Context(), Ref{Project: "fmtcheck", Stack: "dev"}, provider))
	require.NoError(t, b.Create(t.Context(), Ref{Project: "fmtcheck", Stack: "a"}, nil))
	require.NoError(t, b.Create(t.Context(), Ref{Project: "other", Stack: "dev"}, nil))
	require.Equal(t, string(withChecksum([]byte(vector(t, "checkpoint-new-stack.bak.json")))),
		read(t, filepath.Join(dir, "stacks/fmtcheck/dev.json.bak")))
	require.Equal(t, "version: 1\n", read(t, filepath.Join(dir, "meta.yaml")))
	var got, want map[string]any
	require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(dir, "stacks/fmtcheck/dev.json"))), &got))
	delete(got, checksumMember)
	require.NoError(t, json.Unmarshal([]byte(vector(t, "checkpoint-new-stack.json")), &want))
	require.Equal(t, keysOf(want), keysOf(got))

	var exists *ExistsError
	require.ErrorAs(t, b.Create(t.Context(), Ref{Project: "other", Stack: "dev"}, nil), &exists)
	put(t, filepath.Join(dir, "stacks/fmtcheck/dev.json.attrs"), "{}")
	put(t, filepath.Join(dir, "stacks/fmtcheck/dev.yamlhost-journal"), "")
	refs, err := b.Stacks(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []Ref{{Project: "fmtcheck", Stack: "a"}, {Project: "fmtcheck", Stack: "dev"},
		{Project: "other", Stack: "dev"}}, refs)
	refs, err = b.Stacks(t.Context(), "none")
	require.NoError(t, err)
	require.Empty(t, refs)

	require.NoError(t, b.files.historyOf(Ref{Project: "other", Stack: "dev"}).setTags(map[string]string{"owner": "platform"}))
	require.Equal(t, vector(t, "stack-tags.json"), read(t, filepath.Join(dir, "stacks/other/dev.pulumi-tags"))) // F6.13
	tags, err := b.Tags(Ref{Project: "other", Stack: "dev"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"owner": "platform"}, tags)
	require.NoError(t, b.Remove(t.Context(), Ref{Project: "other", Stack: "dev"}, RemoveOptions{}))
	require.NoFileExists(t, filepath.Join(dir, "stacks/other/dev.json"))
	require.NoFileExists(t, filepath.Join(dir, "stacks/other/dev.pulumi-tags"))
	require.FileExists(t, filepath.Join(dir, "stacks/other/dev.json.bak"))
	var missing *NotFoundError
	_, err = b.Load(t.Context(), Ref{Project: "other", Stack: "dev"}, nil)
	require.ErrorAs(t, err, &missing)
	_, err = b.Begin(t.Context(), Ref{Project: "other", Stack: "dev"}, BeginOptions{})
	require.ErrorAs(t, err, &missing)
}

func read(t *testing.T, path string) string {
	t.Helper()
	return testfile.Text(t, path)
}

func keysOf(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for k, x := range m {
		out[k] = keysOf(x)
	}
	return out
}

func TestSession(t *testing.T) { // F6.10, F6.11, D9, E6.2, E6.3
	t.Parallel()
	for _, c := range []Compression{Plain, Gzip, Zstd} {
		t.Run("compression"+string(c), func(t *testing.T) {
			t.Parallel()
			b, dir := newBackend(t, func(o *Options) { o.Compression = c })
			require.NoError(t, b.Create(t.Context(), testRef, nil))
			s := begin(t, b)
			require.Empty(t, s.Base().Resources)
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					r := resource(i)
					id := int64(i + 1)
					if err := s.Append(context.Background(), journal.Entry{Step: id,
						Begin: &state.Operation{Resource: r, Kind: state.Creating}}); err != nil {
						t.Error(err)
					}
					if err := s.Append(context.Background(), journal.Entry{Step: id,
						Add: []journal.Amended{{ID: journal.ID(id), Resource: r}}}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			meanwhile, err := b.Load(t.Context(), testRef, nil)
			require.NoError(t, err)
			require.Len(t, meanwhile.Snapshot.Resources, 20, "a reader sees what is journaled")
			record := &Record{Kind: "update", Message: "m", Result: "succeeded", ResourceChanges: map[string]int{"create": 20}}
			require.NoError(t, s.Commit(t.Context(), nil, record))
			require.NoError(t, s.Close(), "after Commit it does nothing")
			require.ErrorContains(t, s.Append(t.Context(), journal.Entry{}), "has ended")

			names := strings.Join(filesBelow(t, dir), " ")
			require.NotContains(t, names, "journal")
			require.NotContains(t, names, "locks/")
			require.NotContains(t, names, disk.TemporarySuffix)
			require.Contains(t, names, "stacks/p/dev.json"+string(c)+" ")
			require.Regexp(t, `history/p/dev/dev-[0-9]{10,}\.history\.json`+regexp.QuoteMeta(string(c)), names)
			require.Regexp(t, `history/p/dev/dev-[0-9]{10,}\.checkpoint\.json`+regexp.QuoteMeta(string(c)), names)
			require.Regexp(t, `backups/p/dev/dev\.[0-9]{10,}\.json`+regexp.QuoteMeta(string(c)), names)
			require.Contains(t, names, "stacks/p/dev.json"+string(c)+".bak")
			for _, name := range filesBelow(t, dir) {
				require.NotContains(t, read(t, filepath.Join(dir, name)), "hidden", name)
			}
			history, err := b.History(t.Context(), testRef, 0)
			require.NoError(t, err)
			require.Len(t, history, 1)
			require.Equal(t, 20, history[0].ResourceChanges["create"])
			loaded, err := b.Load(t.Context(), testRef, openB64)
			require.NoError(t, err)
			require.Nil(t, loaded.Recovered)
			require.Len(t, loaded.Snapshot.Resources, 20)
			var full *NotEmptyError
			require.ErrorAs(t, b.Remove(t.Context(), testRef, RemoveOptions{}), &full)
		})
	}
}

func TestChangedCompression(t *testing.T) { // F6.8
	t.Parallel()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	b.files.o.Compression = Zstd
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	require.NoFileExists(t, filepath.Join(dir, "stacks/p/dev.json"))
	require.FileExists(t, filepath.Join(dir, "stacks/p/dev.json.bak"))
	require.FileExists(t, filepath.Join(dir, "stacks/p/dev.json.zst"))
	_, err = b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
}

func TestEveryStateIsRetained(t *testing.T) { // E6.3
	t.Parallel()
	b, dir := newBackend(t, func(o *Options) { o.RetainCheckpoints = true })
	kept := func() int {
		names := strings.Join(filesBelow(t, filepath.Join(dir, "stacks/p")), " ")
		return len(regexp.MustCompile(`\bdev\.json\.[0-9]{10,}\b`).FindAllString(names, -1))
	}
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	s := begin(t, b)
	before := kept()
	require.NotZero(t, before, "the new stack")
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	require.Equal(t, before+1, kept(), "E6.21, E9.18: an operation that changed nothing writes once")
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	crashed := func(t *testing.T) (*Backend, string) {
		b, dir := newBackend(t)
		require.NoError(t, b.Create(t.Context(), testRef, nil))
		s := begin(t, b)
		require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}))
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: resource(2),
			Kind: state.Creating}}))
		next, err := Open(b.URL(), testOptions(2)) // considers process 1 dead
		require.NoError(t, err)
		return next, dir
	}
	t.Run("replayed, with a torn tail", func(t *testing.T) {
		t.Parallel()
		b, dir := crashed(t)
		path := filepath.Join(dir, "stacks/p/dev.yamlhost-journal")
		put(t, path, read(t, path)+"torn")
		blind := BeginOptions{Command: "destroy"}
		s, err := b.Begin(t.Context(), testRef, blind) // recovery needs no passphrase
		require.NoError(t, err)
		r := s.Recovered()
		require.Equal(t, 2, r.Entries)
		require.Equal(t, 4, r.Torn)
		require.Len(t, r.Aside, 1)
		require.Equal(t, "torn", read(t, r.Aside[0]))
		require.Equal(t, "update", r.Header.Command)
		require.Len(t, r.InFlight, 1)
		require.Equal(t, resource(2).URN, r.InFlight[0].Resource.URN)
		require.Len(t, s.Base().Resources, 1)
		require.Len(t, s.Base().Pending, 1)
		require.NoFileExists(t, path)
		require.NoError(t, s.Close())
		loaded, err := b.Load(t.Context(), testRef, openB64)
		require.NoError(t, err)
		require.Equal(t, "b64", loaded.Snapshot.SecretsProvider.Type)
		require.Equal(t, state.Creating, loaded.Snapshot.Pending[0].Kind)
	})
	t.Run("another tool changed that file", func(t *testing.T) {
		t.Parallel()
		b, dir := crashed(t)
		put(t, filepath.Join(dir, "stacks/p/dev.json"), vector(t, "checkpoint-v3.json"))
		loaded, err := b.Load(t.Context(), testRef, nil)
		require.NoError(t, err)
		require.True(t, loaded.Recovered.Foreign)
		require.Len(t, loaded.Snapshot.Resources, 5)
		s, err := b.Begin(t.Context(), testRef, BeginOptions{})
		require.NoError(t, err)
		require.True(t, s.Recovered().Foreign)
		require.False(t, s.Recovered().Known, "a creation was under way")
		require.Len(t, s.Recovered().Missing, 2)
		require.Contains(t, s.Recovered().Missing[0], "with the ID id1: only the journal has it")
		require.Contains(t, s.Recovered().Missing[1], "was created: only the journal has it")
		require.FileExists(t, s.Recovered().Aside[0])
		require.Len(t, s.Base().Resources, 5)
		require.NoError(t, s.Close())
		require.Equal(t, vector(t, "checkpoint-v3.json"), read(t, filepath.Join(dir, "stacks/p/dev.json")))
	})
	t.Run("no journal at all", func(t *testing.T) {
		t.Parallel()
		b, dir := crashed(t)
		path := filepath.Join(dir, "stacks/p/dev.yamlhost-journal")
		put(t, path, "something else")
		_, err := b.Begin(t.Context(), testRef, b64Options)
		require.ErrorAs(t, err, new(*DamagedJournalError))
		require.ErrorIs(t, err, journal.ErrNotAJournal)
		require.Equal(t, "something else", read(t, path))
		locks, err := b.Locks(testRef)
		require.NoError(t, err)
		require.Empty(t, locks)
		o := b64Options
		o.Salvage = true
		s, err := b.Begin(t.Context(), testRef, o)
		require.NoError(t, err, "the way on")
		require.Equal(t, "something else", read(t, s.Recovered().Aside[0]))
		require.NoError(t, s.Close())
		requireLoss(t, b, s.Recovered())
	})
}

func TestLocks(t *testing.T) { // F6.9, E6.4
	t.Parallel()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	foreign := filepath.Join(dir, "locks/organization/p/dev/x.json")
	put(t, foreign, vector(t, "lock.json"))
	_, err := b.Begin(t.Context(), testRef, b64Options)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, 18476, locked.Locks[0].PID)
	require.ErrorContains(t, err, "the stack is currently locked by 1 lock(s)")
	require.ErrorContains(t, err, "builder@ci-host (pid 18476)")
	require.Len(t, filesBelow(t, filepath.Dir(foreign)), 1, "its own lock is gone")
	removed, err := b.Cancel(testRef)
	require.NoError(t, err)
	require.Len(t, removed.Locks, 1)

	s := begin(t, b)
	held := filesBelow(t, filepath.Join(dir, "locks"))
	require.Len(t, held, 1)
	require.Regexp(t, `^organization/p/dev/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$`, held[0])
	_, err = b.Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, &locked, "also within one process")
	for name, c := range map[string]struct {
		change func(*Process)
		taken  bool
	}{
		"same machine, process gone":  {func(*Process) {}, true},
		"process still there":         {func(p *Process) { p.Alive = func(int, string) bool { return true } }, false},
		"another machine":             {func(p *Process) { p.Machine = "m2" }, false},
		"another host":                {func(p *Process) { p.Host = "h2" }, false},
		"nobody knows who is running": {func(p *Process) { p.Alive = nil }, false},
	} {
		o := testOptions(2)
		c.change(&o.Process)
		other, err := Open(b.URL(), o)
		require.NoError(t, err)
		locks, err := other.Locks(testRef)
		require.NoError(t, err)
		require.Equal(t, c.taken, len(locks) == 0, name)
	}
	require.NoError(t, s.Close())
	s, err = b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestThisProcessIsAlive(t *testing.T) {
	t.Parallel()
	p := ThisProcess()
	require.True(t, p.Alive(p.PID, p.Started))
	if p.Started != "" {
		require.False(t, p.Alive(p.PID, "0"), "its number was used again")
	}
}

func TestUnreadableState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"cut off":     {"{\"version\":3,\n\"checkpoint\":{\"sta", "line 2, column 15 (byte 28)"},
		"too new":     {`{"version":9}`, "version 9"},
		"unsound":     {`{"version":3,"checkpoint":{"latest":{"resources":[{"urn":"urn:pulumi:dev::p::t::u","type":"t","parent":"urn:pulumi:dev::p::t::v"}]}}}`, "its parent urn:pulumi:dev::p::t::v is not in the state"},
		"broken gzip": {"\x1f\x8b\x08rest", "gzip"},
		"zstd":        {"\x28\xb5\x2f\xfdrest", "zstd"},
	} {
		b, dir := newBackend(t)
		path := filepath.Join(dir, "stacks/p/dev.json")
		put(t, path, c.text)
		_, err := b.Begin(t.Context(), testRef, b64Options)
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, c.text, read(t, path), name)
		require.ElementsMatch(t, []string{"meta.yaml", "stacks/p/dev.json"}, filesBelow(t, dir), name)
	}
}

func TestUnwritableFolder(t *testing.T) {
	t.Parallel()
	d := newSimDisk()
	b, err := open("file:///state", testOptions(1), d)
	require.NoError(t, err)
	d.budget = 0
	err = b.Create(t.Context(), testRef, nil)
	var fault *FileError
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "cannot write")
	require.ErrorIs(t, err, errCrashed)
	err = &FileError{Doing: "write the state", Path: "/x", Err: pathError("open", "/x", os.ErrPermission)}
	require.EqualError(t, err,
		"cannot write the state /x: this user may not open it; check who owns the folder and who may write to it")
}

func TestUnsoundResultIsWrittenAndMarked(t *testing.T) { // E6.51, F5.6
	t.Parallel()
	b, _ := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	s := begin(t, b)
	r := resource(1)
	r.Parent = "urn:pulumi:dev::p::t::gone"
	err := s.Commit(t.Context(), &state.Snapshot{Resources: []*state.Resource{r}}, nil)
	var unsound *state.IntegrityError
	require.ErrorAs(t, err, &unsound)
	_, err = b.Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, &unsound)
	o := b64Options
	o.SkipIntegrity = true
	s, err = b.Begin(t.Context(), testRef, o)
	require.NoError(t, err)
	require.Contains(t, string(s.Base().Metadata), `"integrity_error":{"version":"test","command":"update"`)
	repaired := *s.Base()
	repaired.Resources = []*state.Resource{resource(1)}
	require.NoError(t, s.Commit(t.Context(), &repaired, nil))
	loaded, err := b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
	require.Nil(t, loaded.Snapshot.Metadata, "the next sound write clears it")
}

// open opens a backend on d, where, as on Windows, no file may be renamed, replaced or removed while it is open.
func open(rawURL string, o Options, d disk.Disk) (*Backend, error) {
	o.Disk = disktest.Exclusive(d)
	return Open(rawURL, o)
}

func exportOf(t *testing.T, b *Backend, r Ref) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	err := b.Export(t.Context(), r, 0, nil, &out)
	return out.Bytes(), err
}

// Export and Overview, which read the state piece by piece, agree with a complete load. A damaged state is not
// exported.
func TestExportOfEveryKindOfFile(t *testing.T) { // F5.17
	t.Parallel()
	for _, packing := range extensions {
		o := testOptions(1)
		o.Compression = packing
		b, err := Open("file://"+t.TempDir(), o)
		require.NoError(t, err)
		require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
		require.NoError(t, other(b, 1))
		require.NoError(t, other(b, 2))
		loaded, err := b.Load(t.Context(), testRef, nil)
		require.NoError(t, err)
		want, err := state.EncodeExport(loaded.Snapshot, state.Sealed(nil))
		require.NoError(t, err)
		got, err := exportOf(t, b, testRef)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		overview, err := b.Overview(t.Context(), testRef)
		require.NoError(t, err)
		require.Equal(t, Overview{2, 0, loaded.Snapshot.Manifest.Time, loaded.Snapshot.Manifest.Time}, overview)

		s := begin(t, b)
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: resource(3),
			Kind: state.Creating}}))
		got, err = exportOf(t, b, testRef)
		require.NoError(t, err)
		require.Contains(t, string(got), "pending_operations", "what a run is about to do is in its journal")
		overview, err = b.Overview(t.Context(), testRef)
		require.NoError(t, err)
		require.Equal(t, 1, overview.Pending)
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1}))
		require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded", EndTime: 1 << 40}))
		overview, err = b.Overview(t.Context(), testRef)
		require.NoError(t, err)
		require.False(t, overview.Written.Before(loaded.Snapshot.Manifest.Time))
		require.Equal(t, Overview{2, 0, time.Unix(1<<40, 0).UTC(), overview.Written}, overview, "when the last operation ended")
		if packing != Plain {
			continue
		}
		path := b.files.stateOf(testRef).file(packing)
		data := []byte(read(t, path))
		data[strings.Index(string(data), "id1")] ^= 1
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err = exportOf(t, b, testRef)
		require.ErrorAs(t, err, new(*CorruptError), "an ID is another one")
		require.Empty(t, got)
	}
}

func TestExportImport(t *testing.T) { // F5.17
	t.Parallel()
	b, dir := newBackend(t)
	path := filepath.Join(dir, "stacks/vec/dev.json")
	put(t, path, vector(t, "checkpoint-v3.json"))
	ref := Ref{Project: "vec", Stack: "dev"}
	exported, err := exportOf(t, b, ref)
	require.NoError(t, err)
	require.Contains(t, string(exported), `"ciphertext": "v1:`)
	require.NoError(t, b.Create(t.Context(), Ref{Project: "copy", Stack: "dev"}, nil))
	_, err = b.Import(t.Context(), Ref{Project: "copy", Stack: "dev"}, exported, ImportOptions{})
	require.NoError(t, err)
	again, err := exportOf(t, b, Ref{Project: "copy", Stack: "dev"})
	require.NoError(t, err)
	withoutTime := func(s []byte) string {
		lines := strings.Split(string(s), "\n")
		return strings.Join(append(lines[:4:4], lines[7:]...), "\n") // without the manifest
	}
	require.Equal(t, withoutTime(exported), withoutTime(again))

	require.NoError(t, b.Create(t.Context(), Ref{Project: "copy", Stack: "prod"}, nil))
	var foreign *ForeignStackError
	_, err = b.Import(t.Context(), Ref{Project: "copy", Stack: "prod"}, exported, ImportOptions{})
	require.ErrorAs(t, err, &foreign)
	done, err := b.Import(t.Context(), Ref{Project: "copy", Stack: "prod"}, exported, ImportOptions{Force: true})
	require.NoError(t, err)
	require.ErrorAs(t, errors.Join(done.Warnings...), &foreign)
	_, err = b.Import(t.Context(), Ref{Project: "copy", Stack: "prod"}, []byte("{"), ImportOptions{})
	require.ErrorContains(t, err, "line 1")
}

func TestHistoryVector(t *testing.T) { // F6.11
	t.Parallel()
	var record Record
	text := vector(t, "history.json")
	require.NoError(t, json.Unmarshal([]byte(text), &record))
	got, err := record.encode()
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

func TestSelection(t *testing.T) { // F6.15
	t.Parallel()
	home := t.TempDir()
	const url, file = "file:///home/ci/state", "/home/ci/p/Pulumi.yaml"
	name, err := SelectedStack(home, "fmtcheck", file, url)
	require.NoError(t, err)
	require.Empty(t, name)
	require.NoError(t, SelectStack(home, "fmtcheck", file, url, "organization/fmtcheck/dev"))
	path := workspacePath(home, "fmtcheck", file)
	require.Equal(t, strings.TrimSpace(vector(t, "workspace.json")), read(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	name, err = SelectedStack(home, "fmtcheck", file, url)
	require.NoError(t, err)
	require.Equal(t, "organization/fmtcheck/dev", name)
	require.NoError(t, SelectStack(home, "fmtcheck", file, url, ""))
	require.NoFileExists(t, path, "removed when empty")
	put(t, path, `{"stack":"old"}`)
	name, err = SelectedStack(home, "fmtcheck", file, url)
	require.NoError(t, err)
	require.Equal(t, "old", name)
	put(t, path, `[]`)
	_, err = SelectedStack(home, "fmtcheck", file, url)
	require.ErrorContains(t, err, "damaged")
}

func TestLogin(t *testing.T) { // F6.16
	t.Parallel()
	home := t.TempDir()
	url, err := CurrentLogin(home)
	require.NoError(t, err)
	require.Empty(t, url)
	require.NoError(t, Login(home, "file:///home/ci/state", nil))
	path := filepath.Join(home, "credentials.json")
	require.Equal(t, strings.TrimSpace(vector(t, "credentials.json")), read(t, path))
	put(t, path, strings.Replace(read(t, path), `"current"`, `"future": {"a": 1}, "current"`, 1))
	require.NoError(t, Login(home, "file:///other", nil))
	url, err = CurrentLogin(home)
	require.NoError(t, err)
	require.Equal(t, "file:///other", url)
	known, err := Logout(home, "")
	require.NoError(t, err)
	require.True(t, known)
	require.Contains(t, read(t, path), `"future"`)
	require.Contains(t, read(t, path), "file:///home/ci/state")
	require.NotContains(t, read(t, path), "file:///other")
	known, err = Logout(home, "file:///other")
	require.NoError(t, err)
	require.False(t, known)
}

func TestPassphraseSession(t *testing.T) { // D3: the first secret creates the salt
	t.Parallel()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	keys := &secrets.Keyring{}
	o := secrets.Options{Keys: keys, Passphrase: func(secrets.Purpose) (string, error) { return "x", nil }}
	opener := func(p state.SecretsProvider) (secrets.Manager, error) { return secrets.Open(p.Type, p.State, o) }
	m := secrets.NewLazy("", o)
	s, err := b.Begin(t.Context(), testRef, BeginOptions{Secrets: m, Open: opener})
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}))
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	first := read(t, filepath.Join(dir, "stacks/p/dev.json"))
	require.Contains(t, first, m.Salt())

	s, err = b.Begin(t.Context(), testRef, BeginOptions{Secrets: secrets.NewLazy(m.Salt(), o), Open: opener})
	require.NoError(t, err)
	require.NoError(t, s.Commit(t.Context(), s.Base(), nil))
	resources := func(text string) string {
		return text[strings.Index(text, `"resources"`):strings.Index(text, checksumMember)]
	}
	second := read(t, filepath.Join(dir, "stacks/p/dev.json"))
	require.Equal(t, resources(first), resources(second), "unchanged secrets keep their ciphertext, E6.33")
}
