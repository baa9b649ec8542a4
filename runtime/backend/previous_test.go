package backend

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
)

// TestPrevious damages a state and restores it, in a folder and in a store (F6.10, F6.11).
func TestPrevious(t *testing.T) {
	t.Parallel()
	type place struct {
		open   func() *Backend
		damage func(path, text string)
		read   func(path string) string
		remove func(part string) // removes all files with part in their path
	}
	folder := func(t *testing.T) place {
		d := newSimDisk()
		return place{
			open: func() *Backend {
				b, err := open("file:///state", testOptions(1), d)
				require.NoError(t, err)
				return b
			},
			damage: func(path, text string) { require.NoError(t, disk.WriteDurably(d, path, []byte(text))) },
			read: func(path string) string {
				data, err := d.ReadFile(path)
				require.NoError(t, err)
				return string(data)
			},
			remove: func(part string) {
				for _, p := range []string{"/state/.pulumi/history/p/dev", "/state/.pulumi/backups/p/dev",
					"/state/.pulumi/stacks/p"} {
					names, err := d.ReadDir(p)
					require.NoError(t, err)
					for _, name := range names {
						if full := filepath.Join(p, name); strings.Contains(full, part) {
							require.NoError(t, d.Remove(full))
						}
					}
				}
			},
		}
	}
	store := func(t *testing.T) place {
		m := newMemory()
		return place{
			open: func() *Backend { return openMemory(t, m, 1) },
			damage: func(path, text string) {
				_, err := m.Put(t.Context(), path, []byte(text), Condition{})
				require.NoError(t, err)
			},
			read: func(path string) string {
				o, err := m.Get(t.Context(), path)
				require.NoError(t, err)
				return string(o.Data)
			},
			remove: func(part string) {
				for _, key := range m.keys() {
					if strings.Contains(key, part) {
						require.NoError(t, m.Delete(t.Context(), key))
					}
				}
			},
		}
	}
	for where, make := range map[string]func(*testing.T) place{"folder": folder, "store": store} {
		for name, c := range map[string]struct {
			gone []string // parts of the paths of files removed beforehand
			text string   // content of the damaged state
			want string   // part of the name of the copy; empty for none
			all  bool     // the copy equals the state before the damage
		}{
			"cut off":                  {nil, `{"version":3,"checkpoint":{"sta`, "backups/p/dev/dev.", true},
			"empty":                    {nil, "", "backups/p/dev/dev.", true},
			"broken gzip":              {nil, "\x1f\x8b\x08rest", "backups/p/dev/dev.", true},
			"without backups":          {[]string{"/backups/"}, "{", "history/p/dev/dev-", true},
			"with nothing but the bak": {[]string{"/history/", "/backups/"}, "{", "stacks/p/dev.json.bak", false},
			"with nothing at all":      {[]string{"/history/", "/backups/", ".bak"}, "{", "", false},
		} {
			t.Run(where+": "+name, func(t *testing.T) {
				t.Parallel()
				p := make(t)
				b := p.open()
				require.NoError(t, b.Create(t.Context(), testRef, nil))
				var acknowledged []urn.URN
				require.NoError(t, work(b, &acknowledged))
				before, err := b.Load(t.Context(), testRef, nil)
				require.NoError(t, err)
				file := b.files.stateOf(testRef).file(Plain)
				was := p.read(file)
				for _, part := range c.gone {
					p.remove(part)
				}
				_, err = b.Restore(t.Context(), testRef)
				require.ErrorContains(t, err, "is sound")
				p.damage(file, c.text)

				b = p.open()
				_, err = b.Begin(t.Context(), testRef, b64Options)
				var damaged *CorruptError
				require.ErrorAs(t, err, &damaged)
				_, err = b.Load(t.Context(), testRef, nil)
				require.ErrorAs(t, err, &damaged)
				if c.want == "" {
					require.Nil(t, damaged.Previous)
					_, err = b.Restore(t.Context(), testRef)
					require.ErrorContains(t, err, "no sound copy")
					require.Equal(t, c.text, p.read(file))
					return
				}
				require.ErrorContains(t, err, c.want)
				require.ErrorContains(t, err, "state repair")
				aside, err := b.Restore(t.Context(), testRef)
				require.NoError(t, err)
				require.Equal(t, c.text, p.read(aside))
				require.Regexp(t, `^dev\.json\.\d+\.damaged$`, path.Base(filepath.ToSlash(aside)))
				after, err := b.Load(t.Context(), testRef, nil)
				require.NoError(t, err)
				if c.all {
					require.Equal(t, was, p.read(file))
					require.Len(t, after.Snapshot.Resources, len(before.Snapshot.Resources))
				}
				s, err := b.Begin(t.Context(), testRef, b64Options)
				require.NoError(t, err, "the stack goes on")
				loss, err := LossOf(b, testRef)
				require.NoError(t, err)
				require.NotNil(t, loss, "the copy may lack later objects")
				require.Equal(t, []string{aside}, loss.Aside)
				require.NoError(t, s.ForgetLoss())
				require.NoError(t, s.Close())

				// A stack whose state file has disappeared cannot be created again. It is restored in the same way.
				if len(c.gone) == 0 {
					was = p.read(file)
					p.remove("dev.json")
					err = b.Create(t.Context(), testRef, nil)
					var lost *LostError
					require.ErrorAs(t, err, &lost)
					require.Len(t, before.Snapshot.Resources, lost.Previous.Resources)
					_, err = b.Restore(t.Context(), testRef)
					require.NoError(t, err)
					require.Equal(t, was, p.read(file))
					require.Nil(t, (Past{b, testRef}).Lost())
					loss, err := LossOf(b, testRef)
					require.NoError(t, err)
					require.NotNil(t, loss, "nor does this one have what came later")
				}

				// A removed stack is not lost.
				require.NoError(t, b.Remove(t.Context(), testRef, RemoveOptions{Force: true}))
				require.Nil(t, (Past{b, testRef}).Lost())
				require.NoError(t, b.Create(t.Context(), testRef, nil))
			})
		}
	}
}

// TestPreviousUnderJournal checks that the journal of a crashed run applies again once the state it began with is
// restored.
func TestPreviousUnderJournal(t *testing.T) {
	t.Parallel()
	d := newSimDisk()
	o := testOptions(1)
	o.Process.Alive = func(int, string) bool { return false }
	b, err := open("file:///state", o, d)
	require.NoError(t, err)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	s := begin(t, b)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}))
	require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded"}))
	s, err = b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 2, Resource: resource(2)}}}))

	// The process dies here, and then the state is damaged.
	require.NoError(t, disk.WriteDurably(d, b.files.stateOf(testRef).file(Plain), []byte("{")))
	o.Process.PID, o.Now = 2, func() time.Time { return time.Now() }
	b, err = open("file:///state", o, d)
	require.NoError(t, err)
	_, err = b.Restore(t.Context(), testRef)
	require.NoError(t, err)
	loaded, err := b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, 2)
	require.False(t, loaded.Recovered.Foreign)
}
