package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// askedTerminal is the keyboard of a terminal. It notes that somebody has asked.
type askedTerminal struct{ asked bool }

func (a *askedTerminal) Read([]byte) (int, error) {
	a.asked = true
	return 0, errors.New("asked")
}

// Flags that exclude or need each other, and values that a flag does not take, are reported before anything is asked:
// the stack, of which none is selected here, a value, a secret, a name or a confirmation.
func TestFlagsAreCheckedBeforeAQuestion(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: p\nruntime: yaml\n"), 0o600))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("ready.json", "{}")
	yamlhost := func(keyboard *askedTerminal, args ...string) string {
		var said bytes.Buffer
		streams, world := System("0.1.0-test")
		streams.In, streams.Out, streams.Err = keyboard, &said, &said
		streams.InTerminal, streams.OutTerminal, streams.ErrTerminal = true, true, true
		streams.ReadPassword = func() (string, error) { keyboard.asked = true; return "", errors.New("asked") }
		world.Dir, world.Home = dir, home
		world.Env = []string{"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(home), "HOME=" + home, "TERM=dumb",
			"PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "PULUMI_CONFIG_PASSPHRASE=phrase"}
		Run(context.Background(), args, streams, world)
		return said.String()
	}
	for _, name := range []string{"dev", "prod"} {
		require.Contains(t, yamlhost(&askedTerminal{}, "stack", "init", name, "--no-select"), "Created")
	}
	keyboard := &askedTerminal{}
	yamlhost(keyboard, "preview")
	require.True(t, keyboard.asked, "without a fault of flags, the stack is asked for")
	for _, line := range []string{
		"config set --secret --plaintext k", "config set --path --type nosuch k[0]",
		"config set-all --json {} --plaintext a=1", "config cp --dest dev --config-file f.yaml", "config cp",
		"up --skip-preview --preview-only", "up --untrusted --allow-env", "up --causes nosuch", "up --target-dependents",
		"up --exclude-dependents", "up --clear-pending-creates --skip-pending-creates --import-pending-creates a",
		"up --settle-pending retry --settle-pending read", "up --out nosuch=f", "up --config novalue", "up --config-from novalue",
		"run --save-plan p", "run --import-file f", "up --parallel x",
		"preview --untrusted --allow-env", "preview --causes nosuch", "preview --target-dependents", "preview --config novalue",
		"refresh --skip-preview --preview-only", "refresh --causes nosuch", "destroy --skip-preview --preview-only",
		"destroy --causes nosuch", "destroy --target-dependents",
		"import --file f --query q", "import --import-file f", "import --from terraform --file f",
		"stack output --json --shell", "stack tag set k",
		"stack export --version x", "stack history --page-size x",
		"stack init x --secrets-provider nosuch",
		"state protect --all a", "state unprotect --all a", "state delete --all a",
		"login --local file://x", "convert --from pcl --to json .", "schema --all", "plugin install --from b random",
		"new hello --name ../x --stack ../x", "new hello --dir Pulumi.yaml", "new hello --secrets-provider nosuch",
		"drift --causes nosuch", "drift --config novalue", "test --watch --json",
		"env rm", "env init", "cancel a b", "plan show", "state taint --all a",
		"up --plan missing.json", "up --config-file missing.yaml", "up --policy-pack missing",
		"up --config-from k=missing",
		"up --policy-pack missing --policy-pack-config missing", "up --policy-pack-config ready.json", "up --strict -f",
		"up --refresh=perhaps", "up --settle-pending x", "up --import-pending-creates a",
		"preview --save-plan missing/p.json", "preview --import-file missing/i.json",
		"preview --config-file missing.yaml",
		"refresh --config-file missing.yaml", "refresh --import-pending-creates a",
		"destroy --config-file missing.yaml",
		"drift --config-file missing.yaml", "import --config-file missing.yaml", "import --file missing.json",
		"import --query missing.yaml", "config --config-file missing.yaml", "config get k --config-file missing.yaml",
		"config env ls --config-file missing.yaml", "run --all --jobs x", "run --all --filter x",
		"check --all --filter x",
		"run --all --queue postgres://x --slots x", "run --all --queue postgres://x --source x", "run --all --emit x",
		"destroy --all --jobs x", "refresh --all --filter x", "drift --all --queue postgres://x --slots x",
	} {
		keyboard := &askedTerminal{}
		if said := yamlhost(keyboard, strings.Fields(line)...); keyboard.asked || !strings.Contains(said, "error") {
			t.Errorf("yamlhost %s asks first, or says no error: %q", line, said)
		}
	}
	// A number or a duration out of its range is refused likewise, whatever the command.
	tried := 0
	root := newRoot(&console.Console{World: console.World{Dir: dir}}, &profile{})
	visit(root, "", func(cmd *cobra.Command, path string) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			bad := map[string]string{"int": "-1", "int64": "-1", "duration": "-1s"}[f.Value.Type()]
			if bad == "" || strings.Contains(f.Usage, "accepted for compatibility") {
				return
			}
			tried++
			keyboard, before := &askedTerminal{}, filesIn(t, dir)
			said := yamlhost(keyboard, append(strings.Fields(path), "--"+f.Name+"="+bad)...)
			if keyboard.asked || !strings.Contains(said, "--"+f.Name+" takes a") {
				t.Errorf("yamlhost %s --%s=%s asks first, or does not refuse it: %q", path, f.Name, bad, said)
			}
			require.Equal(t, before, filesIn(t, dir))
		})
	})
	require.Greater(t, tried, 50)
	for _, line := range []string{"up --max-value 0", "up --max-value 9000000000000", "up --max-steps 0",
		"run --all --queue postgres://x --priority 5", "drift --all --queue postgres://x --every 1ms",
		"stack history --page 0",
		"stack export --version 0", "worker --jobs 0", "queue ls --limit 0"} {
		keyboard := &askedTerminal{}
		said := yamlhost(keyboard, strings.Fields(line)...)
		if keyboard.asked || !regexp.MustCompile(`takes a .* from 1`).MatchString(said) {
			t.Errorf("yamlhost %s asks first, or does not refuse it: %q", line, said)
		}
	}
}
