package backend

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// A missing object in the middle of a journal is damage, because the entries after it were acknowledged. The error has
// its key.
func TestChainWithAGap(t *testing.T) { // D9
	t.Parallel()
	file := &keptFile{}
	log, err := journal.Create(file, journal.Header{Command: "update"}, journal.LogOptions{})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	head := file.data
	require.True(t, journal.Begins(head))
	l := &links{folder: "f", all: []link{{3, head}, {4, []byte("a")}, {5, []byte("b")}}}
	data, err := l.journal()
	require.NoError(t, err)
	require.Equal(t, string(head)+"ab", string(data))
	l.all = slices.Delete(l.all, 1, 2)
	_, err = l.journal()
	var damaged *CorruptError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, linkKey("f", 4), damaged.Path)
}

// The owner of a lock from before a restart is gone if the machine is identified. It is unknown on a machine without an
// ID and in a container, because another machine or container may have the same name and another boot ID.
func TestOwnLockFromAnotherBoot(t *testing.T) {
	t.Parallel()
	alive := func(int, string) bool { return false }
	for name, c := range map[string]struct {
		process Process
		want    Owner
	}{
		"restarted": {Process{Machine: "id pid:[4026531836]", Boot: "two", Host: "h", Alive: alive}, OwnerGone},
		"no ID":     {Process{Machine: " pid:[4026531836]", Boot: "two", Host: "h", Alive: alive}, OwnerUnknown},
		"a container": {Process{Machine: "id pid:[4026532201]", Boot: "two", Host: "h", Alive: alive, Contained: true},
			OwnerUnknown},
		"the same boot": {Process{Machine: " pid:[4026531836]", Boot: "one", Host: "h", Alive: alive}, OwnerGone},
	} {
		l := lockFile{PID: 9, Hostname: "h", Yamlhost: &lockProcess{Machine: c.process.Machine, Boot: "one"}}
		require.Equal(t, c.want, c.process.owner(l), name)
	}
}

// keptFile is a journal file in memory.
type keptFile struct{ data []byte }

func (f *keptFile) Write(p []byte) (int, error) { f.data = append(f.data, p...); return len(p), nil }
func (f *keptFile) Sync() error                 { return nil }
func (f *keptFile) Close() error                { return nil }

// The lock of a dead Pulumi CLI process on this host is stale in a store too, if the name of the host is distinctive.
func TestStaleLockOfTheStockHostInAStore(t *testing.T) { // F6.9
	t.Parallel()
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		lock  lockFile
		alive bool
		stale bool

		contained bool
	}{
		"dead":             {lockFile{PID: 9, Username: "u", Hostname: "builder", Timestamp: when}, false, true, false},
		"in a container":   {lockFile{PID: 9, Username: "u", Hostname: "builder", Timestamp: when}, false, false, true},
		"alive":            {lockFile{PID: 9, Username: "u", Hostname: "builder", Timestamp: when}, true, false, false},
		"another host":     {lockFile{PID: 9, Username: "u", Hostname: "other", Timestamp: when}, false, false, false},
		"another user":     {lockFile{PID: 9, Username: "v", Hostname: "builder", Timestamp: when}, false, false, false},
		"no moment":        {lockFile{PID: 9, Username: "u", Hostname: "builder"}, false, false, false},
		"everybody's name": {lockFile{PID: 9, Username: "u", Hostname: "localhost", Timestamp: when}, false, false, false},
		"everybody's domain": {lockFile{PID: 9, Username: "u", Hostname: "localhost.localdomain", Timestamp: when}, false,
			false, false},
	} {
		host := "builder"
		if c.lock.Hostname != "other" {
			host = c.lock.Hostname
		}
		b := &files{objects: &objectDisk{}, o: Options{Process: Process{PID: 7, User: "u", Host: host,
			Contained: c.contained, AliveAt: func(int, time.Time) bool { return c.alive }}}}
		require.Equal(t, c.stale, stackLocks{files: b}.stale(c.lock), name)
	}
}

// What only a journal has counts as an object that may exist if a provider made it, not if it is a component, a
// provider itself, or a resource that is only read.
func TestUntoldAreObjects(t *testing.T) { // D9
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var entries []journal.Entry
		var made, begun []string
		for i := range rapid.IntRange(1, 6).Draw(rt, "resources") {
			r := resource(i)
			kind := rapid.SampledFrom([]string{"object", "component", "provider", "read"}).Draw(rt, "kind")
			switch kind {
			case "component":
				r.Custom, r.ID = false, ""
			case "provider":
				r.Type = "pulumi:providers:pkg"
				r.URN = urn.New("dev", "p", "", r.Type, r.URN.Name())
			case "read":
				r.External = true
			}
			step := int64(i + 1)
			entries = append(entries, journal.Entry{Step: step, Begin: &state.Operation{Resource: r, Kind: state.Creating}})
			if rapid.Bool().Draw(rt, "ended") {
				entries = append(entries, journal.Entry{Step: step, Add: []journal.Amended{{ID: journal.ID(step), Resource: r}}})
				if kind == "object" {
					made = append(made, r.ID)
				}
			} else if kind == "object" {
				begun = append(begun, r.ID)
			}
		}
		var gotMade, gotBegun []string
		lacking := untold(&state.Snapshot{}, entries)
		for _, r := range lacking.Made {
			gotMade = append(gotMade, r.ID)
		}
		for _, op := range lacking.Begun {
			gotBegun = append(gotBegun, op.Resource.ID)
		}
		require.Equal(rt, made, gotMade)
		require.Equal(rt, begun, gotBegun)
	})
}
