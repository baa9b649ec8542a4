package cli

import (
	"path/filepath"

	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/workspace"
)

// acquireWith lets missing plugins be downloaded from now on. dir is the folder of the lock file.
func (p *providers) acquireWith(a *app, dir string, tell func(text string)) {
	p.finder.Fetcher = plugin.NewFetcher(plugin.FetchOptions{
		Home: a.pulumiHome(), LockDir: dir, Forbidden: a.downloadsForbidden(), Overrides: a.world.env(downloadOverrides),
		Client: a.world.HTTP, Tell: tell,
	})
}

// downloadOverrides is the environment variable that sends downloads elsewhere (F2.35).
const downloadOverrides = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"

// downloadsForbidden names what forbids downloads; empty when nothing does.
func (a *app) downloadsForbidden() string {
	switch {
	case a.global.offline:
		return "--offline"
	case a.world.envTrue("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
		return "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
	}
	return ""
}

// lockDir is the folder of a project's lock file.
func lockDir(ws *workspace.Workspace) string {
	if ws.Project.Path != "" {
		return filepath.Dir(ws.Project.Path)
	}
	return ws.Project.Dir
}
