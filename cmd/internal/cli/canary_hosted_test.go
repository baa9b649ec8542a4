package cli

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/test/service/host"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// TestServicesGetSecretsSealed runs the lines at a service of testdata/canaries/commands.txtar, one after the other:
// with journals, with differences of checkpoints, and with whole checkpoints. No request and no answer has a secret in
// plain text, except those that encrypt and decrypt, and neither has an output or a file.
func TestServicesGetSecretsSealed(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/canaries/commands.txtar")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range archive.Files {
		texts[f.Name] = strings.ReplaceAll(string(f.Data), "organization/base", host.User+"/base")
	}
	for call, forgotten := range map[string][]string{"journalentries": nil, "checkpointdelta": {"journal"},
		"checkpointverbatim": {"journal", "delta", "batch-encrypt", "batch-decrypt"}} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			x := newHosted(t, texts["programs/usual"])
			x.Set(host.Behaviour{Forget: forgotten})
			canaries := canaryTexts("canary-")
			sent := map[string]int{} // requests, by the last parts of their paths
			var mu sync.Mutex        // guards sent
			server := httptest.NewServer(host.Record(x.Host, func(e host.Exchange) {
				path, _, _ := strings.Cut(e.Path, "?")
				last := path[strings.LastIndex(path, "/")+1:]
				mu.Lock()
				sent[last]++
				mu.Unlock()
				if !strings.HasSuffix(last, "crypt") {
					findCanary(t, canaries, e.Method+" "+path, e.Path+"\n"+string(e.Body)+"\n"+string(e.Answer))
				}
			}))
			t.Cleanup(server.Close)
			root := filepath.Dir(x.world.Dir)
			require.NoError(t, os.Mkdir(filepath.Join(root, "base"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, "base", "Pulumi.yaml"),
				[]byte(texts["files/base/Pulumi.yaml"]), 0o600))
			x.streams.InTerminal, x.streams.ErrTerminal = false, false
			signals := make(chan os.Signal, 1)
			x.world.Signals = signals
			x.world.Env = []string{"NO_COLOR=1", "TERM=dumb", "PULUMI_CONFIG_PASSPHRASE=canary-passphrase",
				"PULUMI_BACKEND_URL=" + server.URL, "PULUMI_ACCESS_TOKEN=" + x.Token(), "PATH=" + os.Getenv("PATH"),
				"TMPDIR=" + filepath.Join(root, "home"), "PULUMI_IGNORE_AMBIENT_PLUGINS=true",
				"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"}
			x.world.Embedded = []console.EmbeddedProviders{
				parrots{parrot{gossip{&drawer.Provider{Dir: t.TempDir()}}, signals}}}
			for _, line := range canaryLines(t, texts["lines at a service"]) {
				program := texts["programs/usual"]
				if line.program != "" {
					program = texts["programs/"+line.program]
				}
				require.NotEmpty(t, program, line.text)
				require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(program), 0o600))
				x.streams.In = strings.NewReader("canary-passphrase\n")
				code := x.run(line.commands[0]...)
				said := x.out.String() + x.err.String()
				require.Equal(t, line.fails, code != 0, "%s: code %d\n%s", line.text, code, said)
				require.NotEqual(t, console.CodeBadUsage, code, said)
				require.NotContains(t, said, x.Token())
				findCanary(t, canaries, "the output of "+line.text, said)
				for file, text := range filesIn(t, root) {
					if file != "project/Pulumi.yaml" && file != "base/Pulumi.yaml" {
						findCanary(t, canaries, file+" after "+line.text, text)
					}
				}
			}
			for _, name := range []string{call, "batch", "import", "rename", "complete"} { // batch has events
				require.Positive(t, sent[name], "%s: %v", name, sent)
			}
		})
	}
}
