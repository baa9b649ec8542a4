//go:build linux

package kill

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A refresh that cannot reach a provider, for whatever reason, removes nothing from the state (E7.20).
func TestRefreshUnreachable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		environ []string
		aside   bool // the plugin is no longer installed
		says    string
	}{
		"an error":         {environ: []string{garbageKey + "=Read status"}, says: "speaks in tongues"},
		"no message":       {environ: []string{garbageKey + "=Read bytes"}, says: "cannot be read"},
		"cannot be set up": {environ: []string{garbageKey + "=Configure bytes"}, says: "plugin drawer"},
		"does not come up": {environ: []string{garbageKey + "=Handshake bytes"}, says: "plugin drawer"},
		"not there any more": {aside: true, environ: []string{"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"},
			says: "no provider plugin for package drawer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFault(t)
			require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
			before, err := b.load()
			require.NoError(t, err)
			installed := filepath.Join(b.dir, "home", "plugins", "resource-drawer-v1.0.0")
			if c.aside {
				require.NoError(t, os.Rename(installed, filepath.Join(b.dir, "aside")))
			}
			environ := b.environ
			b.environ = append(b.environ[:len(b.environ):len(b.environ)], c.environ...)
			require.Equal(t, 14, b.run("", 0, "refresh", "--yes", "--skip-preview").code, b.said)
			require.Contains(t, b.said, c.says)
			after, err := b.load()
			require.NoError(t, err)
			require.Len(t, after.Resources, len(before.Resources))
			for i, r := range after.Resources {
				require.Equal(t, before.Resources[i].ID, r.ID)
			}
			require.Empty(t, after.Pending)
			require.Empty(t, b.children(), "processes of the plugin")
			b.environ = environ
			if c.aside {
				require.NoError(t, os.Rename(filepath.Join(b.dir, "aside"), installed))
			}
			require.Equal(t, 0, b.run("", 0, "refresh", "--yes", "--skip-preview", "--expect-no-changes").code, b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}
