package langhost_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/langhost"
)

// Configuration of other namespaces is no part of a program in PCL: it stays in the project file, whether the program
// is in that file or not.
func TestConfigurationOfOthersStaysInTheProjectFile(t *testing.T) {
	t.Parallel()
	const config = "config:\n  pulumi:tags:\n    value:\n      pulumi:template: x\n  aws:region: eu-west-1\n"
	for name, files := range map[string]map[string]string{
		"one file": {"Pulumi.yaml": "name: p\nruntime: yaml\n" + config + "  size: {type: integer}\noutputs: {o: '${size}'}\n"},
		"main": {"Pulumi.yaml": "name: p\nruntime: yaml\n" + config,
			"Main.yaml": "config:\n  size: {type: integer}\noutputs: {o: '${size}'}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, err := langhost.New(langhost.Options{})
			require.NoError(t, err)
			defer host.Close()
			from, to := writeFiles(t, files), t.TempDir()
			found, err := host.WritePCL(t.Context(), from, to, "")
			require.NoError(t, err)
			require.False(t, found.HasErrors(), "%v", found)
			project, err := os.ReadFile(filepath.Join(to, "Pulumi.yaml"))
			require.NoError(t, err)
			require.Equal(t, "name: p\nruntime: pcl\nconfig:\n  pulumi:tags: {value: {\"pulumi:template\":\"x\"}}\n"+
				"  aws:region: {value: \"eu-west-1\"}\n", string(project))
			program, err := os.ReadFile(filepath.Join(to, "main.pp"))
			require.NoError(t, err)
			require.Equal(t, "config \"size\" \"int\" {\n}\n\noutput \"o\" {\n  value = size\n}\n", string(program))
		})
	}
}
