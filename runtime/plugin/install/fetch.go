package install

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/nohost"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// FetchOptions control how missing plugins are downloaded.
type FetchOptions struct {
	// Home is the directory that holds the folder plugins; empty to download nothing.
	Home string
	// LockDir is the folder of the lock file, which is also the project file's.
	LockDir string
	// Forbidden names the reason why downloads are forbidden, such as a flag; empty if they are allowed.
	Forbidden string
	// Overrides is the text of PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES (F2.35).
	Overrides string
	// Client downloads; nil for the default client.
	Client *http.Client
	// Accept is called before a plugin without a known checksum is downloaded (F2.34); an error prevents the download.
	// If it is nil, nothing is downloaded without a checksum. Calls do not overlap.
	Accept func(ctx context.Context, name, version, from string) error
	// AllowHTTP is as in Installation.
	AllowHTTP bool
	// Tell receives a text about each download; nil drops it. It may be called from several goroutines at once.
	Tell func(text string)
}

// Fetcher downloads missing plugins, each once. It is safe for concurrent use. A nil Fetcher downloads nothing.
type Fetcher struct {
	options FetchOptions
	tries   parallel.Memo[string, string, error] // the downloaded versions

	withoutNetwork atomic.Bool // has been said

	accepted map[string]bool // guarded by ask
	lock     sync.Mutex      // held while the lock file is written
	ask      sync.Mutex      // held during a call of Accept
}

// NewFetcher returns a fetcher, which downloads nothing before the first Fetch.
func NewFetcher(o FetchOptions) *Fetcher { return &Fetcher{options: o} }

// Fetch downloads a missing plugin. Its error is missing, with advice for a machine without a network: the plugin, the
// version, and the command that installs it.
func (f *Fetcher) Fetch(ctx context.Context, pkg provider.Package, missing *provider.MissingError) error {
	version := strings.TrimPrefix(pkg.Version, "v")
	fail := func(why string, err error) error { return f.advise(pkg, version, missing, why, err) }
	if f == nil || f.options.Home == "" {
		return fail("", nil)
	}
	lock, err := ReadLockFile(f.options.LockDir)
	if err != nil {
		return err
	}
	if locked := lock.Find(pkg.Name, ""); version == "" && locked != nil {
		version = locked.Version
	}
	if reason := f.options.Forbidden; reason != "" {
		return fail("it was not downloaded, because "+reason+" forbids that", nil)
	}
	if err := f.Permit(ctx, pkg); err != nil {
		return fail("it was not downloaded, because "+err.Error(), nil)
	}
	key := pkg.Name + " " + version + " " + pkg.DownloadURL
	version, err = f.tries.Get(key, func() (string, error) { return f.download(ctx, pkg, version, lock) })
	if err != nil {
		return fail("it could not be downloaded: "+err.Error(), err)
	}
	return nil
}

// Permit returns an error for a plugin that may not be downloaded, because its checksum is unknown and Accept refuses
// it. A plugin that was accepted once stays accepted for the life of the Fetcher.
func (f *Fetcher) Permit(ctx context.Context, pkg provider.Package) error {
	if f == nil || f.options.Home == "" || f.options.Forbidden != "" {
		return nil // Fetch returns the error
	}
	lock, err := ReadLockFile(f.options.LockDir)
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(pkg.Version, "v")
	locked := lock.Find(pkg.Name, version)
	if len(pkg.Checksums[Platform()]) > 0 || locked != nil && locked.Checksum(Platform()) != "" {
		return nil
	}
	if f.options.Accept == nil {
		return fmt.Errorf("%s has no checksum for it on %s; `yamlhost preview --accept-new-plugins` downloads it and "+
			"locks its checksum", LockName, Platform())
	}
	from := pkg.DownloadURL
	if from == "" && locked != nil {
		from = locked.Server
	}
	f.ask.Lock()
	defer f.ask.Unlock()
	key := pkg.Name + " " + version + " " + from
	if f.accepted[key] {
		return nil
	}
	if err := f.options.Accept(ctx, pkg.Name, version, from); err != nil {
		return err
	}
	if f.accepted == nil {
		f.accepted = map[string]bool{}
	}
	f.accepted[key] = true
	return nil
}

// advise adds to the error of a missing plugin the reason why it was not downloaded, if there is one, and what to do.
// err is the error of the download; nil without a download.
func (f *Fetcher) advise(pkg provider.Package, version string, missing *provider.MissingError, why string,
	err error) error {
	advised := *missing
	unknown := version == "" && (errors.Is(err, ErrNoLatest) || strings.HasPrefix(pkg.DownloadURL, "http"))
	if unknown {
		version = "VERSION"
	}
	command := strings.TrimSpace("yamlhost plugin install resource " + pkg.Name + " " + version)
	if pkg.DownloadURL != "" {
		command += fmt.Sprintf(" --server '%s'", pkg.DownloadURL)
	}
	advised.Advice = "install it with: " + command
	if unknown {
		advised.Advice += "\nwith a version of its publisher, such as 1.2.3, for VERSION: the newest is not known"
	}
	if f == nil { // reading a program needs only the schema
		advised.Advice += "\nor give its schema with --schema FILE or --schema-dir DIR"
	}
	if nohost.In(err) != "" && f != nil && f.withoutNetwork.CompareAndSwap(false, true) {
		advised.Advice += "\nwithout a network: `yamlhost plugin bundle` packs them where there is one, for " +
			"`yamlhost plugin install --from FILE` here"
	}
	if why != "" {
		advised.Advice = why + "\n" + advised.Advice
	}
	return &advised
}

// download installs a plugin from the first source that has it, and returns which version that was.
func (f *Fetcher) download(ctx context.Context, pkg provider.Package, version string, lock *LockFile) (string, error) {
	i := Installation{Home: f.options.Home, Name: pkg.Name, Version: version, Client: f.options.Client,
		AllowHTTP: f.options.AllowHTTP}
	var err error
	if i.Key, err = lock.KeyOf(pkg.Name); err != nil {
		return version, err
	}
	from := pkg.DownloadURL
	if locked := lock.Find(pkg.Name, version); locked != nil && version != "" {
		i.Checksum = locked.Checksum(Platform())
		if from == "" {
			from = locked.Server
		}
	}
	if sum := pkg.Checksums[Platform()]; len(sum) > 0 { // F2.34
		if i.Checksum != "" && i.Checksum != hex.EncodeToString(sum) {
			return version, fmt.Errorf("its checksum differs from the one that %s has", LockName)
		}
		i.Checksum = hex.EncodeToString(sum)
	}
	result, err := FromSources(ctx, &i, from, f.options.Overrides, f.options.Tell)
	if err != nil || f.options.LockDir == "" || result.Checksum == "" {
		return i.Version, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	return i.Version, EditLockFile(ctx, f.options.LockDir, func(lock *LockFile) {
		lock.Add(i.Name, i.Version, from, result.Checksum) // keeps entries that others have added meanwhile
	})
}

// FromSources installs a plugin from the first of its sources that has it (F2.32); without a version, the newest. It
// fills in what it has chosen. overrides is the text of PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES; tell may be nil.
func FromSources(ctx context.Context, i *Installation, from, overrides string, tell func(string)) (
	result Result, err error) {
	err = i.fromSources(from, overrides, func(source Source) (final bool, err error) {
		if i.Version == "" {
			if i.Version, err = source.Latest(ctx, i.Client); err != nil {
				return true, fmt.Errorf("no version is named, and the newest is not known: %w", err)
			}
		}
		if tell != nil {
			tell(fmt.Sprintf("Downloading plugin %s %s", i.Name, i.Version))
			tell = nil
		}
		result, err = Install(ctx, *i)
		return ctx.Err() != nil || errors.As(err, new(*ChecksumError)) || errors.As(err, new(*SignatureError)), err
	})
	return result, err
}

// fromSources calls try for each source of the plugin (F2.32), with i.Server set to it, until try succeeds or returns a
// final error. Otherwise it returns all errors.
func (i *Installation) fromSources(from, overrides string, try func(Source) (final bool, err error)) error {
	sources, err := Sources(i.Name, from, overrides)
	if err != nil {
		return err
	}
	var failures []error
	for _, source := range sources {
		if err := secure(source.Server, i.AllowHTTP); err != nil {
			return err
		}
		i.Server = source.Server
		final, err := try(source)
		if err == nil || final {
			return err
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
