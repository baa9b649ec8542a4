package operation

import (
	"path/filepath"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/workspace"
)

// acquireWith lets missing plugins be downloaded from now on. dir is the folder of the lock file.
func (p *Providers) acquireWith(a *console.Console, dir string, tell func(text string)) {
	forbidden := a.DownloadsForbidden()
	if p.trust == Untrusted {
		forbidden = "--untrusted"
	}
	p.finder.Fetcher = plugin.NewFetcher(plugin.FetchOptions{
		Home: a.PulumiHome(), LockDir: dir, Forbidden: forbidden, Overrides: a.World.Getenv(console.DownloadOverrides),
		Client: a.World.HTTP, Tell: tell,
	})
}

// lockDir is the folder of a project's lock file.
func lockDir(ws *workspace.Workspace) string {
	if ws.Project.Path != "" {
		return filepath.Dir(ws.Project.Path)
	}
	return ws.Project.Dir
}
