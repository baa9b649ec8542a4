package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/workspace"
)

// acquisition downloads plugins that are missing, each once in a command. It is safe for concurrent use.
type acquisition struct {
	app  *app
	dir  string            // of the project, where the lock file is
	tell func(text string) // that something is being downloaded

	mu    sync.Mutex // guards what follows
	tries map[string]*acquired
	lock  sync.Mutex // held while the lock file is written
}

// acquired is a download, under way or over.
type acquired struct {
	over chan struct{}
	err  error
}

// acquireWith lets missing plugins be downloaded from now on.
func (p *providers) acquireWith(a *app, dir string, tell func(text string)) {
	p.acquisition = &acquisition{app: a, dir: dir, tell: tell, tries: map[string]*acquired{}}
}

// forbidden is what forbids downloads; empty when nothing does.
func (a *app) downloadsForbidden() string {
	switch {
	case a.global.offline:
		return "--offline"
	case a.world.envTrue("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
		return "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
	}
	return ""
}

// acquire downloads the plugin that was found to be missing. Its error is missing with advice, which is always of use to
// somebody without a network: which plugin, which version, and the command that installs it.
func (p *providers) acquire(ctx context.Context, pkg provider.Package, missing *provider.MissingError) error {
	version := strings.TrimPrefix(pkg.Version, "v")
	advised := *missing
	fail := func(why string) error {
		shown := version
		if shown == "" {
			shown = "VERSION"
		}
		command := fmt.Sprintf("yamlhost plugin install resource %s %s", pkg.Name, shown)
		if pkg.DownloadURL != "" {
			command += fmt.Sprintf(" --server '%s'", pkg.DownloadURL)
		}
		advised.Advice = "install it with: " + command
		if p.acquisition == nil { // who only looks at a program needs no more than a schema
			advised.Advice += "\nor give its schema with --schema FILE or --schema-dir DIR"
		}
		if why != "" {
			advised.Advice = why + "\n" + advised.Advice
		}
		return &advised
	}
	q := p.acquisition
	if q == nil || p.home == "" { // who only looks at a program asks no network
		return fail("")
	}
	lock, err := plugin.ReadLockFile(q.dir)
	if err != nil {
		return err
	}
	if locked := lock.Find(pkg.Name, ""); version == "" && locked != nil {
		version = locked.Version
	}
	if by := q.app.downloadsForbidden(); by != "" {
		return fail("it was not downloaded, because " + by + " forbids that")
	}
	q.mu.Lock()
	key := pkg.Name + " " + version + " " + pkg.DownloadURL
	try, begun := q.tries[key]
	if !begun {
		try = &acquired{over: make(chan struct{})}
		q.tries[key] = try
	}
	q.mu.Unlock()
	if begun {
		<-try.over
	} else {
		version, try.err = q.download(ctx, pkg, version, lock)
		close(try.over)
	}
	if try.err != nil {
		return fail("it could not be downloaded: " + try.err.Error())
	}
	return nil
}

// download installs a plugin from the first source that has it, and answers which version that was.
func (q *acquisition) download(ctx context.Context, pkg provider.Package, version string, lock *plugin.LockFile) (string, error) {
	i := plugin.Installation{Home: q.app.pulumiHome(), Name: pkg.Name, Version: version, Client: q.app.world.HTTP}
	from := pkg.DownloadURL
	if locked := lock.Find(pkg.Name, version); locked != nil && version != "" {
		i.Checksum = locked.Checksums[plugin.Platform()]
		if from == "" {
			from = locked.Server
		}
	}
	if sum := pkg.Checksums[plugin.Platform()]; len(sum) > 0 { // F2.34
		if i.Checksum != "" && i.Checksum != hex.EncodeToString(sum) {
			return version, fmt.Errorf("its checksum differs from the one that %s has", plugin.LockName)
		}
		i.Checksum = hex.EncodeToString(sum)
	}
	result, err := q.app.installFrom(ctx, &i, from, q.tell)
	if err != nil || lock == nil || result.Checksum == "" {
		return i.Version, err
	}
	q.lock.Lock()
	defer q.lock.Unlock()
	return i.Version, plugin.EditLockFile(ctx, q.dir, func(lock *plugin.LockFile) (*plugin.LockFile, error) {
		if lock != nil { // what others have added meanwhile stays
			lock.Add(i.Name, i.Version, from, result.Checksum)
		}
		return lock, nil
	})
}

// installFrom installs a plugin from the first of its sources that has it; without a version, the newest. It fills in what
// it has chosen. tell may be nil.
func (a *app) installFrom(ctx context.Context, i *plugin.Installation, from string, tell func(string)) (plugin.InstallResult, error) {
	sources, err := plugin.Sources(i.Name, from, a.world.env("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"))
	if err != nil {
		return plugin.InstallResult{}, err
	}
	var failures []error
	for _, source := range sources {
		if i.Version == "" {
			if i.Version, err = source.Latest(ctx, i.Client); err != nil {
				return plugin.InstallResult{}, fmt.Errorf("no version is named, and the newest is not known: %w", err)
			}
		}
		if tell != nil {
			tell(fmt.Sprintf("Downloading plugin %s %s", i.Name, i.Version))
			tell = nil
		}
		i.Server = source.Server
		result, err := plugin.Install(ctx, *i)
		var changed *plugin.ChecksumError
		if err == nil || ctx.Err() != nil || errors.As(err, &changed) {
			return result, err
		}
		failures = append(failures, err)
	}
	return plugin.InstallResult{}, errors.Join(failures...)
}

// lockDir is the folder of a project's lock file.
func lockDir(ws *workspace.Workspace) string {
	if ws.Project.Path != "" {
		return filepath.Dir(ws.Project.Path)
	}
	return ws.Project.Dir
}
