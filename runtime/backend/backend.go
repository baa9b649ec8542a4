package backend

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// Options are the settings of a backend.
type Options struct {
	Home    string // the folder that ~ stands for
	WorkDir string // the absolute folder of relative paths
	Version string // the writer in manifests, such as yamlhost/0.1.0 (F5.4)
	Process Process
	Now     func() time.Time // nil for the system's clock

	Compression       Compression // of the files written (F6.8)
	RetainCheckpoints bool        // keep a copy of every state file written (F6.10)
	DisableBackups    bool        // no copy in backups/ after an operation (F6.11)
	// OpenObjects opens the object store at a URL; nil if stores are not supported. Its errors reach the user.
	OpenObjects func(rawURL string) (Objects, error)
	// Opening returns the context of the requests that open a store, and a function that ends it. If Opening is nil,
	// they use the background context.
	Opening func(context.Context) (_ context.Context, done func())
	// Lease is how long a lock in a store holds without being renewed; 0 is the default of 20 seconds.
	Lease time.Duration
	// OpenService opens the service at a URL that begins with http; nil if services are not supported. Its errors reach
	// the user.
	OpenService func(rawURL string) (Service, error)
	// Deferral is how long the end of a step waits for the beginning of the next one, so that a service gets both in
	// one request; 0 is a second, which is much longer than the time between them, even on a busy machine.
	Deferral time.Duration
	Copies   string            // the local folder for results that services do not have yet
	Note     func(text string) // called with a description of each wait; may be nil
	Disk     disk.Disk         // of folders; nil for the file system of this machine
	// Upgrading opens a backend of the layout without projects too, for Upgrade and nothing else.
	Upgrading bool
}

// Compression is how files of the backend are packed. Readers do not need it: they recognize it by the content.
type Compression string

// The ways to pack files.
const (
	Plain Compression = ""
	Gzip  Compression = ".gz"
	Zstd  Compression = ".zst"
)

// Backend is a folder, a store or a service with stacks in it. It is safe for concurrent use, also by several
// processes: changes to a stack are made under the stack's lock.
//
// Its methods work on stacks as a whole. Each part of a stack has a type of its own, which depends only on files.
type Backend struct {
	files    *files
	schedule schedule
	service  Service        // keeps the stacks; nil if they are files
	listed   map[Ref]Hosted // see Prefetch
}

// schedule controls when a session makes the writes that can wait.
type schedule struct {
	interval     time.Duration // the least time between two writes of the state file; see Session
	leastJournal int64         // see Session
	background   func(func())  // runs a function in a goroutine
	deferral     time.Duration // see journal.LogOptions
}

var defaultSchedule = schedule{interval: 30 * time.Second, leastJournal: defaultLeastJournal,
	background: func(f func()) { go f() }}

// under returns a view of b for the holder of a lock. It writes nothing once the lock is lost.
func under(held holder, b *Backend) *Backend {
	return &Backend{files: held.fenced(), schedule: b.schedule}
}

// Open opens the backend of a URL: file:// (F6.1, F6.2), or one that Options.OpenService or Options.OpenObjects opens.
// A folder has to exist, unless the URL asks to create it with create_dir=true; nothing is written before the first
// stack. Other URLs give an *UnsupportedURLError, folders of another layout a *LayoutError.
func Open(rawURL string, o Options) (*Backend, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Disk == nil {
		o.Disk = disk.Real{}
	}
	switch {
	case IsService(rawURL) && o.OpenService != nil:
		return openService(rawURL, o)
	case !strings.HasPrefix(rawURL, "file://") && o.OpenObjects != nil:
		return openObjects(rawURL, o)
	}
	return openFolder(rawURL, o)
}

// IsService reports whether a URL addresses a service.
func IsService(rawURL string) bool {
	return strings.HasPrefix(rawURL, "https://") || strings.HasPrefix(rawURL, "http://")
}

// openService returns the backend of a service, without sending a request.
func openService(rawURL string, o Options) (*Backend, error) {
	service, err := o.OpenService(rawURL)
	if err != nil {
		return nil, err
	}
	s := defaultSchedule
	s.deferral = cmp.Or(o.Deferral, time.Second)
	b := openedAt(rawURL, o.Copies, o, o.Disk, s)
	b.service = service
	return b, nil
}

// openedAt returns a backend that keeps its files below root on d.
func openedAt(rawURL, root string, o Options, d disk.Disk, s schedule) *Backend {
	return &Backend{files: &files{url: rawURL, root: root, o: o, disk: d, probed: &probed{}}, schedule: s}
}

// openObjects returns the backend of a store. It reads the store's layout at once, so that a wrong URL fails here.
func openObjects(rawURL string, o Options) (*Backend, error) {
	objects, err := o.OpenObjects(rawURL)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(PublicURL(rawURL), "?") // the query may hold credentials
	d := newObjectDisk(objects, name)
	if o.Opening != nil {
		opening, done := o.Opening(d.parent)
		defer func(usual context.Context) { d.parent = usual; done() }(d.parent)
		d.parent = opening
	}
	b := openedAt(rawURL, ".pulumi", o, d, defaultSchedule)
	b.files.objects = d
	return b, b.files.usable()
}

// openFolder opens the backend of a folder; see Open.
func openFolder(rawURL string, o Options) (*Backend, error) {
	path, query, err := folderOf(rawURL, o)
	if err != nil {
		return nil, err
	}
	b := openedAt(rawURL, filepath.Join(path, ".pulumi"), o, o.Disk, defaultSchedule)
	_, err = o.Disk.ModTime(path)
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || query.Get("create_dir") != "true") {
		return nil, fileError("open the backend in the folder", path, err)
	}
	return b, b.files.usable()
}

// URL returns the backend's URL as given to Open. Workspace files identify the backend by it (F6.15).
func (b *Backend) URL() string { return b.files.url }

// PublicURL returns the backend's URL for messages and reports.
func (b *Backend) PublicURL() string { return PublicURL(b.files.url) }

// secretParameters matches the secret parameters of URLs.
var secretParameters = lazyregexp.New(`([?&](?:ssl)?password)=[^&]*`)

// PublicURL returns a backend's URL with any password masked, even if the URL is malformed.
func PublicURL(rawURL string) string {
	scheme, rest, found := strings.Cut(rawURL, "://")
	if !found || scheme == "file" {
		return rawURL
	}
	rest = secretParameters().ReplaceAllString(rest, "$1=xxxxx")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		if user, _, has := strings.Cut(rest[:i], ":"); has {
			rest = user + ":xxxxx" + rest[i:]
		}
	}
	return scheme + "://" + rest
}

// Folder returns the path of the .pulumi folder; in a store, the common prefix of all keys.
func (b *Backend) Folder() string { return b.files.root }

// folderOf returns the absolute path and the parameters in the URL of a folder (F6.1, F6.2).
func folderOf(rawURL string, o Options) (path string, query url.Values, err error) {
	rest, ok := strings.CutPrefix(rawURL, "file://")
	if !ok {
		return "", nil, &UnsupportedURLError{URL: rawURL}
	}
	text, queryText, _ := strings.Cut(rest, "?")
	if query, err = url.ParseQuery(queryText); err != nil {
		return "", nil, fmt.Errorf("the parameters of the backend %q are malformed; %s", rawURL, AnotherBackend)
	}
	if path, err = url.PathUnescape(text); err != nil {
		return "", nil, fmt.Errorf(
			"the path of the backend %q is malformed: a percent sign is not followed by two hexadecimal digits; %s",
			rawURL, AnotherBackend)
	}
	switch {
	case path == "":
		return "", nil, fmt.Errorf("the backend %q names no folder; file://~ is the one in your home folder; %s", rawURL,
			AnotherBackend)
	case path == "~" || strings.HasPrefix(path, "~/"):
		if o.Home == "" {
			return "", nil, fmt.Errorf("the backend %q is in the home folder, but the home folder is not known", rawURL)
		}
		path = filepath.Join(o.Home, path[1:])
	default:
		path = fileurl.Local(path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.WorkDir, path)
	}
	return path, query, nil
}

// Probe tests the backend with a small file that it writes, reads back and removes. It returns the time of the file by
// the clock of the disk or store. A backend without a stack stays empty. In a service, Probe only asks for the user.
func (b *Backend) Probe() (written time.Time, err error) {
	if b.service != nil {
		_, err := b.service.User(context.Background())
		return b.files.o.Now(), err
	}
	folder := b.files.root
	if _, err := b.files.disk.ModTime(folder); err != nil && b.files.objects == nil {
		folder = filepath.Dir(folder) // the future parent of .pulumi
		if _, err := b.files.disk.ModTime(folder); err != nil {
			return written, fileError("write in", folder, err)
		}
	}
	path := filepath.Join(folder, fmt.Sprintf("probe-%d-%d", b.files.o.Process.PID, time.Now().UnixNano()))
	data := []byte("This file shows that the backend can be written to. It may be removed.\n")
	if err := b.files.write("write", path, data); err != nil {
		return written, err
	}
	defer func() { err = cmp.Or(err, fileError("remove", path, b.files.disk.Remove(path))) }()
	read, err := b.files.disk.ReadFile(path)
	if err == nil && !bytes.Equal(read, data) {
		err = fmt.Errorf("its size in bytes is %d, and %d were written", len(read), len(data))
	}
	if err == nil {
		written, err = b.files.disk.ModTime(path)
	}
	return written, fileError("read", path, err)
}
