package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBridge runs testdata/bridge: Pulumi's bridge to Terraform providers becomes the packages random and time through
// parameters, each the path of a real Terraform provider. The first build of the three takes minutes.
func TestBridge(t *testing.T) {
	if os.Getenv("YAMLHOST_BRIDGE") == "" {
		t.Skip("takes minutes and much to download: set YAMLHOST_BRIDGE, as `make bridge-test` does")
	}
	bin, err := binaries()
	require.NoError(t, err)
	plugins := filepath.Join(bin, "bridge")
	for out, pkg := range map[string]string{
		"pulumi-resource-terraform-provider": "github.com/pulumi/pulumi-terraform-bridge/v3/dynamic",
		"terraform-provider-random":          "github.com/terraform-providers/terraform-provider-random",
		"terraform-provider-time":            "github.com/hashicorp/terraform-provider-time",
	} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(plugins, out), pkg)
		cmd.Dir = "../terraformbridge"
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, string(text))
	}
	runScripts(t, "testdata/bridge", bin, plugins)
}
