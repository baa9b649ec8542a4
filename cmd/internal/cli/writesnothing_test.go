package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filesIn returns the texts of all files in a folder by their paths; folders have none.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if !e.IsDir() {
			read, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(read)
		}
		rel, err := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = text
		return err
	}))
	return found
}

// A command that is refused for one of its arguments has written nothing: no file, no folder, no stack, no selection.
// Each line is a command with an argument that cannot be, wherever it stands; those before it are good.
func TestRefusedCommandsWriteNothing(t *testing.T) {
	t.Parallel()
	const secret = "--secrets-provider=passphrase"
	lines := []string{
		"new hello --dir made --yes --stack con", "new hello --dir made --yes --stack a:b", "new hello --dir made --yes --stack a.",
		"new hello --dir made --yes --name con", "new hello --dir made --yes --name a/b", "new hello --dir nul --yes",
		"new hello --dir made --yes --config novalue", "new hello --dir made --yes --config a:b:c:d=1", "new nosuch --dir made --yes",
		"new hello extra --dir made", "new hello --dir made --yes --stack dev --config greeting=x --config other:a:b=2",
		"new hello --dir Pulumi.yaml --yes",
		"stack init con", "stack init con " + secret, "stack init NUL.x " + secret, "stack init a:b " + secret, "stack init dev " + secret,
		"stack init new --secrets-provider=nosuch://x", "stack init new extra", "stack init one/two/three/four " + secret,
		"stack select con --create", "stack select con --create " + secret, "stack select missing", "stack rename con",
		"stack rename a:b", "stack rename other", "stack import --file missing.json", "stack import --file Pulumi.yaml",
		"stack change-secrets-provider nosuch://x", "stack tag set", "stack export --file missing/x.json", "stack rm missing --yes",
		"up --yes --stack con", "run --yes --stack con", "run --yes --stack a:b", "up --yes --stack missing",
		"up --yes --plan missing.json", "up --yes --target nosuch",
		"preview --save-plan missing/plan.json", "preview --out nosuch=report.json",
		"preview --out json=ok.json --out nosuch=report.json",
		"config set", "config set a b extra", "config set a:b:c:d e", "config set --path a[ b", "config set a b --stack missing",
		"config set-all --plaintext a=1 --plaintext broken", "config set-all --plaintext a=1 --plaintext b:c:d:e=2",
		"config set-all --plaintext a=1 --secret nosign", "config copy --dest con", "config copy --dest missing",
		"config rm-all a b:c:d:e", "config refresh --stack missing", "config env add nosuch --yes",
		"package add ./missing", "package add random@notaversion", "package add ./missing more", "package remove nosuch",
		"plugin install resource nosuch notaversion", "plugin install --from missing.tar", "plugin bundle --out missing/p.tar",
		"import random:RandomPet", "import random:RandomPet name", "import nosuch:Type name id --yes",
		"import random:RandomPet name id --yes --parent missing=urn", "import --file missing.json --yes",
		"import random:RandomPet name id --yes --out missing/x.yaml",
		"convert --from kubernetes --out made missing.yaml", "convert --from nosuch --out made Pulumi.yaml",
		"convert --from kubernetes --out made Pulumi.yaml missing.yaml", "convert --from terraform --out made missing",
		"convert --from cloudformation --out made",
		"state rename urn:pulumi:dev::one::random:index/randomPet:RandomPet::pet con:: --yes", "state rename nosuch other --yes",
		"state delete nosuch --yes", "state move nosuch --dest other --yes", "state move --dest con pet --yes", "state protect nosuch --yes",
		"state taint nosuch", "state taint pet nosuch", "state protect pet nosuch --yes",
		"env init con", "env init a:b", "env init a.", "env init new extra", "env rm missing --yes", "env edit missing --file nosuch.yaml",
		"login file:///%zz", "login missing/folder", "login nosuch://x", "login --local file://x", "org set-default",
		"check --fix missing", "fmt Pulumi.yaml missing.yaml", "graph --format nosuch", "graph --out missing/x.json",
		"shim missing/folder extra", "test --update missing", "completion nosuch", "cancel nosuch --yes", "worker --queue nosuch",
		"destroy --yes --target nosuch", "destroy --yes --stack missing", "refresh --yes --target nosuch", "queue cancel nosuch",
		"install extra", "drift --out nosuch=x", "migrate --check extra more",
	}
	template := newTerminal(t, onePet)
	template.world.Env = append(template.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	for _, line := range []string{"stack init other", "stack init dev", "up --yes --skip-preview", "config set a b"} {
		require.Zero(t, template.run(strings.Fields(line)...), template.err.String())
	}
	root := filepath.Dir(template.world.Dir)
	for _, pulumi := range []bool{false, true} {
		for _, line := range lines {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(root)))
			x := &terminal{}
			x.streams, x.world = template.streams, template.world
			x.streams.In, x.streams.Out, x.streams.Err = strings.NewReader(""), &x.out, &x.err
			x.streams.InTerminal, x.streams.ErrTerminal = false, false
			x.world.AsPulumi = pulumi
			x.world.Dir, x.world.Home = filepath.Join(dir, "project"), filepath.Join(dir, "home")
			x.world.Env = []string{"NO_COLOR=1", "TERM=dumb", "PULUMI_CONFIG_PASSPHRASE=p",
				"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(filepath.Join(dir, "state"))}
			require.Zero(t, x.run("stack", "select", "dev"), x.err.String())
			before := filesIn(t, dir)
			code := x.run(strings.Fields(line)...)
			if code == 0 {
				t.Logf("%s is not refused", line)
				t.Fail()
				continue
			}
			after := filesIn(t, dir)
			for path, text := range after {
				if old, was := before[path]; !was || old != text {
					t.Errorf("%q (pulumi %t) wrote %s: %s", line, pulumi, path, x.err.String())
				}
			}
			for path := range before {
				if _, is := after[path]; !is {
					t.Errorf("%q (pulumi %t) removed %s: %s", line, pulumi, path, x.err.String())
				}
			}
		}
	}
}
