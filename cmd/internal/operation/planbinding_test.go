package operation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The executable of a plugin is read only if a plan is written or an applied plan has its checksum.
func TestChecksumsOfPluginsAreTakenForPlans(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(path, []byte("version one"), 0o755); err != nil {
		t.Fatal(err)
	}
	pkg := provider.Package{Name: "drawer", Version: "1.0.0"}
	var used usedPlugins
	if err := used.note(pkg, path); err != nil || len(used.checksums()) > 0 {
		t.Errorf("no plan needs checksums, and there is %v: %v", used.checksums(), err)
	}
	used.needed = true
	if err := used.note(pkg, path); err != nil || len(used.checksums()) != 1 {
		t.Fatalf("for a plan there is %v: %v", used.checksums(), err)
	}
	bound := usedPlugins{want: used.checksums()}
	if err := bound.note(pkg, path); err != nil {
		t.Errorf("the plan's own plugin: %v", err)
	}
	if err := os.WriteFile(path, []byte("version two"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := bound.note(pkg, path); !errors.Is(err, errPluginMoved) || !strings.Contains(err.Error(), "drawer@1.0.0") {
		t.Errorf("another executable under the same version: %v", err)
	}
}
