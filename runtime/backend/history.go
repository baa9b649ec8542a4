package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Record is the history's entry for one operation (F6.11).
type Record struct {
	Kind            string                     `json:"kind"`      // update, refresh, destroy, resource-import
	StartTime       int64                      `json:"startTime"` // Unix seconds
	Message         string                     `json:"message"`
	Environment     map[string]string          `json:"environment"` // F6.12
	Config          map[string]json.RawMessage `json:"config"`      // as in the stack's settings, secrets as {"secure": …}
	Version         int                        `json:"version"`     // of the state in a service; else always 0
	Result          string                     `json:"result"`      // succeeded or failed
	EndTime         int64                      `json:"endTime"`     // Unix seconds
	ResourceChanges map[string]int             `json:"resourceChanges,omitempty"`
	Own             json.RawMessage            `json:"yamlhost,omitempty"` // what only yamlhost knows; others ignore it
	// Checkpoint is the stamp of the earlier record whose checkpoint is the state at the end of this operation, which
	// has changed nothing; 0 if there is a checkpoint beside this record. Others ignore it.
	Checkpoint int64 `json:"yamlhostCheckpoint,omitempty"`
}

// encode returns the record as it is kept: compact, unescaped, without a final newline (F6.7).
func (r *Record) encode() ([]byte, error) {
	kept := *r
	if kept.Environment == nil {
		kept.Environment = map[string]string{}
	}
	if kept.Config == nil {
		kept.Config = map[string]json.RawMessage{}
	}
	return compactJSON(kept)
}

// compactJSON writes JSON as the Pulumi CLI does: without escapes for HTML, and without a final newline.
func compactJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	err := jsontext.Write(&out, v, "")
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// stackHistory keeps the records, checkpoints, backups and tags of a stack.
type stackHistory stack

// add writes a record, a copy of the state file, and a backup of that (F6.11). It returns the stamp of the copy. If
// there is a copy with the same content, which may be one that is known to have it, the new one is a hard link to it.
// In a store, which has no links, the record names it instead. The caller holds the lock.
func (b stackHistory) add(record *Record, end *ending, known int64) (kept int64, err error) {
	checkpoint := end.file.raw
	names, _ := b.files.list("history", b.ref.Project, b.ref.Stack) // a folder that cannot be listed cannot be written to either
	stamp, extension := b.nextStamp(names), ".json"+string(b.files.o.Compression)
	before := b.sameCopy(b.copiesAmong(names, "history", b.ref.Stack+"-", ".checkpoint.json"), end, known)
	written := *record
	if kept = stamp; before != nil && b.files.objects != nil {
		kept, written.Checkpoint = before.stamp, before.stamp
	}
	text, err := written.encode()
	if err != nil {
		return 0, fmt.Errorf("write the history of %s: %w", b.ref, err)
	}
	packedRecord, err := b.files.o.Compression.pack(text)
	if err != nil {
		return 0, err
	}
	name := b.files.path("history", b.ref.Project, b.ref.Stack, fmt.Sprintf("%s-%d", b.ref.Stack, stamp))
	path := name + ".history" + extension
	if err := disk.WriteWhole(b.files.disk, path, packedRecord, false); err != nil || kept != stamp {
		return kept, fileError("write the history", path, err)
	}
	if before != nil {
		path = name + ".checkpoint.json" + string(before.packing)
		err = disk.SameAs(b.files.disk, before.path, path, checkpoint)
	} else {
		path = name + ".checkpoint" + extension
		err = disk.WriteWhole(b.files.disk, path, checkpoint, false)
	}
	if err != nil {
		return 0, fileError("write the history", path, err)
	}
	if b.files.o.DisableBackups || before != nil { // the operation that made the copy has made its backup
		return kept, nil
	}
	from := path
	path = b.files.path("backups", b.ref.Project, b.ref.Stack, fmt.Sprintf("%s.%d%s", b.ref.Stack, stamp, extension))
	return kept, fileError("write the history", path, disk.SameAs(b.files.disk, from, path, checkpoint))
}

// sameCopy returns one of some copies of the state that has the content of the state file: that with the stamp known,
// or else the first one, if it does; else nil. In a store, which may be far away, it reads none if the operation has
// written the state: each write has another time in it.
func (b stackHistory) sameCopy(all []copyOf, end *ending, known int64) *copyOf {
	if i := slices.IndexFunc(all, func(c copyOf) bool { return c.stamp == known }); known != 0 && i >= 0 {
		return &all[i]
	}
	if len(all) == 0 || b.files.objects != nil && end.file.version != end.begun.version {
		return nil
	}
	if same, err := disk.Holds(b.files.disk, all[0].path, end.file.raw); err != nil || !same {
		return nil
	}
	return &all[0]
}

// nextStamp returns the time that names the next record: now, but always after all present records, whose names are
// given, even if the clock was set back. Records are ordered by name.
func (b stackHistory) nextStamp(names []string) int64 {
	stamp := b.files.o.Now().UnixNano()
	for _, name := range names {
		text, found := strings.CutPrefix(name, b.ref.Stack+"-")
		digits, _, _ := strings.Cut(text, ".")
		if n, err := strconv.ParseInt(digits, 10, 64); found && err == nil && n >= stamp {
			stamp = n + 1
		}
	}
	return stamp
}

// Entry is a record of the history, with the stamp that names it.
type Entry struct {
	Stamp int64 // Unix nanoseconds; unique
	Record
}

// History returns the records of a stack's operations, newest first. At most limit are read; 0 means all.
func (b *Backend) History(ctx context.Context, r Ref, limit int) ([]Record, error) {
	r, err := b.named(ctx, r)
	if err != nil {
		return nil, err
	}
	if b.service != nil {
		return b.service.History(ctx, r, limit)
	}
	entries, err := Past{b, r}.Entries(ctx, limit)
	var records []Record
	for _, e := range entries {
		records = append(records, e.Record)
	}
	return records, err
}

// Entries is History with the stamp of each record. Records that are damaged are left out; their error comes with the
// others.
func (p Past) Entries(ctx context.Context, limit int) ([]Entry, error) {
	b, r := p.b, p.r
	names, err := b.files.list("history", r.Project, r.Stack)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(extensions[:], func(c Compression) bool {
			return strings.HasSuffix(name, ".history.json"+string(c))
		})
	})
	slices.Sort(names) // the last name is the newest (F6.11)
	slices.Reverse(names)
	if limit > 0 && len(names) > limit {
		names = names[:limit]
	}
	var entries []Entry
	var damaged []error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := b.files.path("history", r.Project, r.Stack, name)
		raw, err := b.files.disk.ReadFile(path)
		if err != nil {
			return nil, &FileError{Doing: "read the history", Path: path, Err: err}
		}
		var entry Entry
		text, err := unpack(raw)
		if err == nil {
			err = json.Unmarshal(text, &entry.Record)
		}
		if err != nil {
			damaged = append(damaged, &CorruptError{Path: path, Err: fmt.Errorf("%w; it is the record of one operation and "+
				"nothing else needs it: move it away", plainJSON(err))})
			continue
		}
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, r.Stack+"-"), ".")
		entry.Stamp, _ = strconv.ParseInt(digits, 10, 64) // a name without one has no state beside it
		entries = append(entries, entry)
	}
	return entries, errors.Join(damaged...)
}

// tagsPath returns the path of the tags file, which lies beside the state.
func (b stackHistory) tagsPath() string {
	return b.files.path("stacks", b.ref.Project, b.ref.Stack+".pulumi-tags")
}

// tagsFile is the JSON of a tags file (F6.13).
type tagsFile struct {
	Version int               `json:"version"`
	Tags    map[string]string `json:"tags"`
}

// Tags returns a stack's tags, never nil (F6.13).
func (b *Backend) Tags(r Ref) (map[string]string, error) {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if b.service != nil {
		found, err := b.service.Stack(context.Background(), r)
		if err == nil && found.Tags == nil {
			found.Tags = map[string]string{}
		}
		return found.Tags, err
	}
	path := b.files.historyOf(r).tagsPath()
	text, err := b.files.readIfThere("read the tags", path)
	if err != nil {
		return nil, err
	}
	return readTags(path, text)
}

// readTags returns the tags in a file with that content, which may be empty.
func readTags(path string, text []byte) (map[string]string, error) {
	if len(text) == 0 {
		return map[string]string{}, nil
	}
	var f tagsFile
	err := plainJSON(json.Unmarshal(text, &f))
	if err == nil && f.Version != 1 {
		err = fmt.Errorf("its version is %d, and this build reads version 1", f.Version)
	}
	if err != nil {
		return nil, &CorruptError{Path: path, Err: fmt.Errorf(
			"%w; correct it, or move it away and set the tags again with `yamlhost stack tag set`", err)}
	}
	if f.Tags == nil {
		f.Tags = map[string]string{}
	}
	return f.Tags, nil
}

// EditTags changes a stack's tags (F6.13). edit may modify the map; its error ends the edit. Concurrent edits do not
// lose each other's changes, except in a service, which replaces all tags at once.
func (b *Backend) EditTags(r Ref, edit func(tags map[string]string) error) error {
	r, err := b.named(context.Background(), r)
	if err != nil {
		return err
	}
	set := b.files.historyOf(r).setTags
	switch {
	case b.service != nil:
		set = func(tags map[string]string) error { return b.service.SetTags(context.Background(), r, tags) }
	case b.files.objects != nil:
		return b.files.historyOf(r).editTagsObject(edit)
	default:
		release, err := editing(b.files.historyOf(r).tagsPath())
		if err != nil {
			return err
		}
		defer release()
	}
	tags, err := b.Tags(r)
	if err == nil {
		err = edit(tags)
	}
	if err != nil {
		return err
	}
	return set(tags)
}

// editTagsObject replaces the tags in a store if they have not changed since they were read; else it starts again.
func (b stackHistory) editTagsObject(edit func(tags map[string]string) error) error {
	key := keyOf(b.tagsPath())
	for {
		condition := Condition{Absent: true}
		o, err := b.files.objects.get(key)
		switch {
		case err == nil:
			condition = Condition{Version: o.Version}
		case !errors.Is(err, fs.ErrNotExist):
			return &FileError{Doing: "read the tags", Path: key, Err: err}
		}
		tags, err := readTags(key, o.Data)
		if err == nil {
			err = edit(tags)
		}
		if err != nil {
			return err
		}
		text, err := compactJSON(tagsFile{1, tags})
		if err != nil {
			return err
		}
		if _, err = b.files.objects.put(key, text, condition); !errors.Is(err, ErrChanged) {
			return fileError("write the tags", key, err)
		}
	}
}

// setTags replaces the stack's tags; without any, their file is removed (F6.13).
func (b stackHistory) setTags(tags map[string]string) error {
	if len(tags) == 0 {
		return b.files.remove("remove the tags", b.tagsPath())
	}
	return b.files.writeJSON("write the tags", b.tagsPath(), tagsFile{1, tags})
}

// within returns the files in a stack's folder in history or backups.
func (b stackHistory) within(folder string) []string {
	names, _ := b.files.list(folder, b.ref.Project, b.ref.Stack) // a folder that cannot be listed is left where it is
	var paths []string
	for _, name := range names {
		if !strings.HasSuffix(name, "/") {
			paths = append(paths, b.files.path(folder, b.ref.Project, b.ref.Stack, name))
		}
	}
	return paths
}

// Past reads what a backend has kept of a stack's past: the records of its operations, the states at their ends, copies
// to use when the state cannot be read, and records that were set aside. It is safe for concurrent use.
type Past struct {
	b *Backend
	r Ref
}

// PastOf returns the past of a stack.
func PastOf(b *Backend, r Ref) (Past, error) { return Past{b, r}, r.check() }

// Revision returns a text that changes with the state, the journal, the locks and the history of a stack. It does not
// read the state.
func (p Past) Revision() (string, error) {
	b, r := p.b, p.r
	var text strings.Builder
	st := b.files.stateOf(r)
	for _, path := range []string{st.file(Plain), st.file(Gzip), st.file(Zstd), b.files.journalOf(r).journalFile()} {
		switch t, err := b.files.disk.ModTime(path); {
		case err == nil:
			fmt.Fprintln(&text, t.UnixNano())
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintln(&text, "-")
		default:
			return "", &FileError{Doing: "look at", Path: path, Err: err}
		}
	}
	records, err := b.files.list("history", r.Project, r.Stack)
	if err != nil {
		return "", err
	}
	locks, err := b.files.list("locks", organization, r.Project, r.Stack)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(&text, len(records), locks)
	if b.files.objects == nil {
		return text.String(), nil
	}
	chains, err := b.files.chainsOf(r).list()
	if err != nil || len(chains) == 0 {
		return text.String(), err
	}
	last := chains[len(chains)-1]
	links, err := b.files.objects.list(last + "/")
	if err != nil {
		return "", &FileError{Doing: "look for the journal in", Path: last, Err: err}
	}
	fmt.Fprintln(&text, last, len(links))
	return text.String(), nil
}

// State returns the state at the end of the operation with that stamp, which Entries gives; nil if no copy of it was
// kept. Secrets stay sealed.
func (p Past) State(ctx context.Context, stamp int64) (*state.Snapshot, error) {
	path, text, err := p.text(ctx, stamp)
	if text == nil || err != nil {
		return nil, err
	}
	c, err := state.DecodeCheckpoint(text, nil)
	if err != nil {
		return nil, &CorruptError{Path: path, Err: err}
	}
	return snapshotOf(c), nil
}

// Resource returns one resource of the state that State returns, without decoding the others; nil if the state does not
// have it.
func (p Past) Resource(ctx context.Context, stamp int64, u urn.URN) (*state.Resource, error) {
	path, text, err := p.text(ctx, stamp)
	if text == nil || err != nil {
		return nil, err
	}
	found, err := state.FindResource(text, u)
	if err != nil {
		return nil, &CorruptError{Path: path, Err: err}
	}
	return found, nil
}

// text reads the copy of the state at the end of an operation; nil if there is none.
func (p Past) text(ctx context.Context, stamp int64) (path string, text []byte, err error) {
	if path, text, err = p.read(ctx, stamp, "checkpoint"); text != nil || err != nil || p.b.files.objects == nil {
		return path, text, err
	}
	var record Record
	if path, text, err = p.read(ctx, stamp, "history"); text == nil || err != nil {
		return path, nil, err
	}
	if json.Unmarshal(text, &record) != nil || record.Checkpoint == 0 { // a damaged record names no copy
		return "", nil, nil
	}
	return p.read(ctx, record.Checkpoint, "checkpoint")
}

// read reads the file of a kind with a stamp; nil if there is none.
func (p Past) read(ctx context.Context, stamp int64, kind string) (path string, text []byte, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, err
	}
	b, r := p.b, p.r
	for _, c := range extensions {
		path = b.files.path("history", r.Project, r.Stack, fmt.Sprintf("%s-%d.%s.json%s", r.Stack, stamp, kind, c))
		raw, err := b.files.disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return path, nil, &FileError{Doing: "read the history", Path: path, Err: err}
		}
		if text, err = unpack(raw); err != nil {
			return path, nil, &CorruptError{Path: path, Err: err}
		}
		return path, text, nil
	}
	return "", nil, nil
}
