package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/confine"
)

func TestReadPluginProgram(t *testing.T) { // F3.17
	t.Parallel()
	for name, c := range map[string]struct {
		text, wrong string
		want        PluginProgram
	}{
		"a name": {text: "runtime: nodejs\n", want: PluginProgram{Language: "nodejs"}},
		"with options": {text: "runtime:\n  name: python\n  options: {virtualenv: venv, typed: " +
			"true}\nrequiredPulumiVersion: '>=3.1.0'\nname: x\n",
			want: PluginProgram{Language: "python", Options: map[string]any{"virtualenv": "venv", "typed": true},
				Requires: ">=3.1.0"}},
		"no language": {text: "name: x\n"},
		"a list":      {text: "runtime: [a]\n", wrong: "runtime is a name, or has `name` and `options`"},
		"no YAML":     {text: "runtime: {\n", wrong: "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "PulumiPlugin.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			got, err := ReadPluginProgram(confine.Door{}, path)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := ReadPluginProgram(confine.Door{}, filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "read plugin")
}

func TestSetRuntimeOption(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]PluginProgram{
		"runtime: python\nname: x\n": {Language: "python", Options: map[string]any{"virtualenv": "venv"}},
		"runtime: {name: python, options: {typed: true}}\n": {Language: "python",
			Options: map[string]any{"virtualenv": "venv", "typed": true}},
	} {
		path := filepath.Join(t.TempDir(), "PulumiPolicy.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, SetRuntimeOption(path, "virtualenv", "venv"))
		got, err := ReadPluginProgram(confine.Door{}, path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
