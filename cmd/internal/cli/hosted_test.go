package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// hostedTerminal is a terminal whose backend is a service.
type hostedTerminal struct {
	*terminal
	*host.Host
	t   testing.TB
	url string
}

func newHosted(t testing.TB, program string, answers ...string) *hostedTerminal {
	t.Helper()
	h, err := host.Open(t.TempDir())
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	x := newTerminal(t, program, answers...)
	x.world.HTTP, x.world.ServicePause = nil, time.Millisecond
	x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL="+server.URL, "PULUMI_ACCESS_TOKEN="+h.Token())
	return &hostedTerminal{x, h, t, server.URL}
}

// does runs a command that has to succeed, and returns its standard output.
func (x *hostedTerminal) does(args ...string) string {
	x.t.Helper()
	require.Equal(x.t, 0, x.run(args...), "%v: %s%s", args, x.out.String(), x.err.String())
	require.NotContains(x.t, x.out.String()+x.err.String(), x.Token())
	return x.out.String()
}

// fails runs a command that has to fail, and returns its standard error.
func (x *hostedTerminal) fails(args ...string) string {
	x.t.Helper()
	require.NotEqual(x.t, 0, x.run(args...), "%v: %s%s", args, x.out.String(), x.err.String())
	require.NotContains(x.t, x.out.String()+x.err.String(), x.Token())
	return x.err.String()
}

// outline returns the parts of a state that are equal for all stacks of a program: resources with their dependencies
// and the names of their inputs. It omits values, which are random or encrypted.
func outline(t *testing.T, exported string) []string {
	t.Helper()
	var d struct {
		Deployment struct {
			Resources []struct {
				URN, Parent     string
				Protect, Delete bool
				Inputs          map[string]any
				Dependencies    any
			}
			PendingOperations []json.RawMessage `json:"pending_operations"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(exported), &d))
	require.Empty(t, d.Deployment.PendingOperations)
	var list []string
	for _, r := range d.Deployment.Resources {
		for key := range r.Inputs {
			r.Inputs[key] = ""
		}
		text, err := json.Marshal(r)
		require.NoError(t, err)
		list = append(list, string(text))
	}
	slices.Sort(list) // independent resources are created in any order
	return list
}

const pets = `name: one
runtime: yaml
config:
  length: {type: integer, default: 2}
  word: {type: string, secret: true}
resources:
  first: {type: random:RandomPet, properties: {length: "${length}", keepers: {word: "${word}"}}}
  second: {type: random:RandomPet, properties: {prefix: "${first.id}"}}
  third: {type: random:RandomPet, properties: {prefix: "${second.id}"}}
  alone: {type: random:RandomPet}
outputs: {name: "${third.id}", secret: "${word}"}
`

// behaviours are services with different capabilities and faults.
var behaviours = map[string]host.Behaviour{
	"journal":     {},
	"deltas":      {Forget: []string{"journal"}},
	"checkpoints": {Forget: []string{"journal", "delta", "batch-encrypt", "schema"}, Version: 7},
	"answers lost and calls twice": {Forget: []string{"capabilities"}, Faults: []host.Fault{
		{Call: "journalentries", Kind: "twice"}, {Call: "PATCH", After: 1, Times: 2, Kind: "lose-answer"}}},
	"checkpoints, answers lost": {Forget: []string{"journal"}, Faults: []host.Fault{
		{Call: "checkpoint", After: 1, Times: 3, Kind: "lose-answer"}, {Call: "delta", After: 2, Times: 2, Kind: "twice"}}},
	"late": {Faults: []host.Fault{{Call: "entries", After: 1, Times: 2, Kind: "late"},
		{Call: "complete", Times: 1, Kind: "late"}}},
	"checkpoints, late": {Forget: []string{"journal"}, Faults: []host.Fault{
		{Call: "checkpoint", After: 1, Times: 2, Kind: "late"}, {Call: "delta", After: 3, Times: 1, Kind: "late"}}},
	"deltas in conflict": {Forget: []string{"journal"}, Faults: []host.Fault{{Call: "delta", Status: http.StatusConflict}}},
	"deltas refused":     {Forget: []string{"journal"}, Faults: []host.Fault{{Call: "delta", Status: http.StatusBadRequest}}},
	"busy": {Faults: []host.Fault{{Call: "GET", After: 1, Times: 2, Status: 503},
		{Call: "entries", Times: 2, Status: 429}}},
}

// TestHostedLife runs the same commands with a service and with a folder: the states are equal after each command.
func TestHostedLife(t *testing.T) {
	t.Parallel()
	for name, behaviour := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newHosted(t, pets)
			y := newTerminal(t, pets)
			y.world.Env = append(y.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
			both := func(args ...string) {
				t.Helper()
				x.does(args...)
				require.Equal(t, 0, y.run(args...), y.err.String())
				exported := x.does("stack", "export")
				require.Equal(t, 0, y.run("stack", "export"))
				require.Equal(t, outline(t, y.out.String()), outline(t, exported), args)
				require.NotContains(t, exported, "hunter2")
			}
			both("stack", "init", "dev")
			both("config", "set", "--secret", "word", "hunter2")
			x.Set(behaviour)
			both("up", "--yes")
			x.Set(host.Behaviour{})
			x.does("preview", "--expect-no-changes")
			both("config", "set", "length", "3")
			x.Set(behaviour)
			both("run")
			both("refresh", "--yes")
			x.Set(host.Behaviour{})
			require.Equal(t, "hunter2\n", x.does("stack", "output", "secret", "--show-secrets"))
			both("state", "protect", "urn:pulumi:dev::one::random:index/randomPet:RandomPet::alone", "--yes")
			both("state", "unprotect", "--all", "--yes")
			require.Contains(t, x.does("stack", "ls"), "dev*")
			require.Contains(t, x.does("stack", "history"), "update succeeded")
			require.NotEqual(t, 0, x.run("stack", "history", "--why", "alone"))
			require.Contains(t, x.err.String(), "the history of a service has no causes")
			both("stack", "rename", "prod")
			both("preview", "--expect-no-changes")
			x.Set(behaviour)
			both("destroy", "--yes")
			x.Set(host.Behaviour{})
			x.does("stack", "rm", "--yes", "--preserve-config")
			require.Equal(t, 0, y.run("stack", "rm", "--yes", "--preserve-config"), y.err.String())
			files, err := filepath.Glob(filepath.Join(x.world.Home, ".pulumi/yamlhost/services/*/*/.pulumi/*/*/*"))
			require.NoError(t, err)
			require.Empty(t, slices.DeleteFunc(files, func(f string) bool { return strings.Contains(f, "locks") }))
		})
	}
}

// TestHostedOutage makes the service fail in the middle of a run: the state keeps the resources that were created, and
// the next update goes on from them.
func TestHostedOutage(t *testing.T) {
	t.Parallel()
	for name, behaviour := range map[string]host.Behaviour{
		"journal": {Faults: []host.Fault{{Call: "journalentries", After: 3, Kind: "lose"},
			{Call: "complete", Kind: "lose"}}},
		"checkpoints": {Forget: []string{"journal"}, Faults: []host.Fault{{Call: "checkpoint", After: 3, Kind: "lose"}}},
		"complete":    {Faults: []host.Fault{{Call: "complete", Kind: "lose"}}},
		"too large":   {Faults: []host.Fault{{Call: "journalentries", After: 3, Status: 413}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newHosted(t, pets)
			x.does("stack", "init", "dev")
			x.does("config", "set", "--secret", "word", "hunter2")
			x.Set(behaviour)
			said := x.fails("up", "--yes", "--skip-preview")
			require.Contains(t, said, "the service "+x.url)
			made := x.does("stack", "export")
			x.Set(host.Behaviour{})
			require.Contains(t, made, "random:index/randomPet:RandomPet", said)
			x.does("preview")
			x.does("up", "--yes", "--skip-preview")
			again := x.does("stack", "export")
			for _, id := range idsOf(t, made) {
				require.Contains(t, idsOf(t, again), id, "what was made is known")
			}
			require.Len(t, idsOf(t, again), 4)
		})
	}
}

// idsOf returns the IDs of the pets in a state.
func idsOf(t *testing.T, exported string) (ids []string) {
	t.Helper()
	var d struct {
		Deployment struct{ Resources []struct{ Type, ID string } }
	}
	require.NoError(t, json.Unmarshal([]byte(exported), &d))
	for _, r := range d.Deployment.Resources {
		if strings.HasPrefix(r.Type, "random:") {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// TestHostedBadDays requires for each fault a message with the way out, and an unchanged state.
func TestHostedBadDays(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	x.does("up", "--yes", "--skip-preview")
	before := x.does("stack", "export")
	env := x.world.Env
	for name, c := range map[string]struct {
		behaviour host.Behaviour
		env       []string
		args      []string
		want      string
		code      int // 0 for any failure
	}{
		"no token": {env: []string{"PULUMI_ACCESS_TOKEN="}, want: "log in with `yamlhost login http", code: console.CodeDenied},
		"unknown token": {env: []string{"PULUMI_ACCESS_TOKEN=pul-0"}, want: "log in again with `yamlhost login",
			code: console.CodeDenied},
		"wrong organization": {args: []string{"stack", "init", "acme/one/dev"},
			want: "has no organization \"acme\" that the token may create stacks in"},
		"no such stack": {args: []string{"up", "--yes", "--stack", "team/dev"}, want: "no stack named 'dev' found"},
		"token refused in the run": {behaviour: host.Behaviour{Faults: []host.Fault{{Call: "entries", Status: 401}}},
			args: []string{"destroy", "--yes", "--skip-preview"}, want: "the lease on the stack \"dev\" was lost"},
		"cancelled in the run": {behaviour: host.Behaviour{Faults: []host.Fault{{Call: "entries", Status: 409}}},
			args: []string{"destroy", "--yes", "--skip-preview"}, want: "it was cancelled, or its lease has run out"},
		"someone else's update": {behaviour: host.Behaviour{Faults: []host.Fault{
			{Call: "POST /api/stacks/tester/one/dev/update/", Status: 409}}},
			want: "Either wait for it to end, or end it with 'cancel'"},
		"body over the limit": {behaviour: host.Behaviour{Limit: 100}, args: []string{"destroy", "--yes", "--skip-preview"},
			want: "is larger than it takes: its limit has to be raised"},
		"away": {behaviour: host.Behaviour{Faults: []host.Fault{{Kind: "lose"}}}, want: "it cannot be reached: EOF",
			code: console.CodeUnreachable},
	} {
		x.world.Env = append(slices.Clip(env), c.env...)
		x.Set(c.behaviour)
		if c.args == nil {
			c.args = []string{"up", "--yes", "--skip-preview"}
		}
		code := x.run(c.args...)
		require.Contains(t, x.err.String(), c.want, name)
		if c.code == 0 {
			require.NotZero(t, code, name)
		} else {
			require.Equal(t, c.code, code, name)
		}
		require.NotContains(t, x.out.String()+x.err.String(), x.Token())
		require.LessOrEqual(t, strings.Count(x.out.String()+x.err.String(), "Nothing more was written"), 1, name)
		x.world.Env = env
		x.Set(host.Behaviour{})
		after := x.does("stack", "export")
		require.Equal(t, outline(t, before), outline(t, after), name)
	}
}

// TestHostedAccounts logs in and out, and names stacks by their organizations.
func TestHostedAccounts(t *testing.T) {
	t.Parallel()
	x := newHosted(t, onePet, "")
	env := x.world.Env[:len(x.world.Env)-2]
	token := "PULUMI_ACCESS_TOKEN=" + x.Token()
	x.world.Env = append(slices.Clip(env), "PULUMI_BACKEND_URL=")
	require.Contains(t, x.fails("login", x.url), "without a token")
	x.world.Env = append(x.world.Env, token)
	x.does("login", x.url+"/")
	x.world.Env = x.world.Env[:len(x.world.Env)-1]
	require.Equal(t, "tester\n", x.does("whoami"))
	require.Regexp(t, "^User: tester\nOrganizations: .*\nBackend URL: http", x.does("whoami", "-v"))
	require.JSONEq(t, `{"url": "`+x.url+`", "user": "tester", "organizations": ["tester", "team"]}`,
		x.does("whoami", "--json"))
	text, err := os.ReadFile(filepath.Join(x.world.Home, ".pulumi/credentials.json"))
	require.NoError(t, err)
	var kept struct {
		Current  string
		Accounts map[string]struct {
			AccessToken, Username string
			Organizations         []string
		}
	}
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, x.url, kept.Current)
	require.Equal(t, x.Token(), kept.Accounts[x.url].AccessToken)
	require.Equal(t, "tester", kept.Accounts[x.url].Username)

	require.Contains(t, x.fails("ui", "--no-browser"), "is a service, which has a console of its own")
	require.Equal(t, "tester\n", x.does("org", "get-default"))
	require.Contains(t, x.fails("org", "set-default", "acme"), "tester is in no organization \"acme\"")
	x.does("org", "set-default", "team")
	x.does("stack", "init", "dev")
	require.Contains(t, x.does("stack", "ls", "--all"), "team/one/dev")
	x.does("stack", "init", "tester/one/dev")
	x.does("up", "--yes", "--skip-preview", "--stack", "team/dev")
	require.Contains(t, x.does("stack", "output", "--stack", "team/one/dev", "--json"), "{}")
	x.does("destroy", "--yes", "--skip-preview", "--stack", "team/dev")
	x.does("stack", "tag", "set", "owner", "platform")
	require.Equal(t, "platform\n", x.does("stack", "tag", "get", "owner"))
	x.does("logout")
	require.Equal(t, "u\n", x.does("whoami"), "the folder again")
}

// TestHostedReferences reads the outputs of stacks in other organizations.
func TestHostedReferences(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "team/one/dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	x.does("up", "--yes", "--skip-preview")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(`name: two
runtime: yaml
resources:
  other: {type: "pulumi:pulumi:StackReference", properties: {name: team/one/dev}}
outputs:
  secret: ${other.outputs.secret}
  org: ${pulumi.organization}
`), 0o644))
	require.NoError(t, os.Remove(filepath.Join(x.world.Dir, "Pulumi.dev.yaml")))
	x.does("stack", "init", "dev")
	x.does("up", "--yes", "--skip-preview")
	require.Equal(t, "hunter2\n", x.does("stack", "output", "secret", "--show-secrets"))
	require.Equal(t, "tester\n", x.does("stack", "output", "org"))
}

// TestHostedVersions exports and imports an earlier version of a state, and changes the secrets provider of a stack.
func TestHostedVersions(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	x.does("up", "--yes", "--skip-preview")
	first := x.does("stack", "export")
	x.does("config", "set", "length", "4")
	x.does("up", "--yes", "--skip-preview")
	require.NotEqual(t, idsOf(t, first), idsOf(t, x.does("stack", "export")))
	require.Equal(t, idsOf(t, first), idsOf(t, x.does("stack", "export", "--version", "1")))
	require.Contains(t, x.fails("stack", "export", "--version", "9"), "has no version 9")

	x.streams.In, x.streams.InTerminal, x.streams.ReadPassword = strings.NewReader("correct horse\n"), false, nil
	x.does("stack", "change-secrets-provider", "passphrase")
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=correct horse")
	require.Equal(t, "hunter2\n", x.does("config", "get", "word"))
	require.Equal(t, "hunter2\n", x.does("stack", "output", "secret", "--show-secrets"))
	x.does("preview", "--expect-no-changes")
	x.does("stack", "change-secrets-provider", "default")
	x.world.Env = x.world.Env[:len(x.world.Env)-1]
	require.Equal(t, "hunter2\n", x.does("config", "get", "word"))
	require.Equal(t, "hunter2\n", x.does("stack", "output", "secret", "--show-secrets"))
	settings, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	require.NotContains(t, string(settings), "encryption")
	x.does("preview", "--expect-no-changes")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "first.json"), []byte(first), 0o600))
	x.does("stack", "import", "--file", "first.json")
	require.Equal(t, idsOf(t, first), idsOf(t, x.does("stack", "export")))
}

// TestHostedMove moves a stack from a folder to a service and back. Its secrets stay encrypted.
func TestHostedMove(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	service := x.world.Env
	folder := append(slices.Clip(service), "PULUMI_BACKEND_URL=file://"+t.TempDir(), "PULUMI_CONFIG_PASSPHRASE=x")
	x.streams.In, x.streams.InTerminal, x.streams.ReadPassword = strings.NewReader("x\n"), false, nil
	sealed := filepath.Join(x.world.Dir, "sealed.json")
	unchanged := func() {
		t.Helper()
		text, err := os.ReadFile(sealed)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hunter2")
		x.does("preview", "--expect-no-changes")
		require.Equal(t, "hunter2\n", x.does("config", "get", "word"))
		require.Equal(t, "hunter2\n", x.does("stack", "output", "secret", "--show-secrets"))
	}
	x.world.Env = folder
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	x.does("up", "--yes", "--skip-preview")
	before := x.does("stack", "export")
	x.does("stack", "export", "--file", sealed)

	x.world.Env = append(slices.Clip(service), "PULUMI_CONFIG_PASSPHRASE=x")
	x.does("stack", "init", "dev")
	x.does("stack", "import", "--file", sealed)
	unchanged()
	x.does("stack", "change-secrets-provider", "default")
	x.world.Env = service
	unchanged()
	require.Equal(t, idsOf(t, before), idsOf(t, x.does("stack", "export")))

	x.does("stack", "change-secrets-provider", "passphrase")
	x.world.Env = append(slices.Clip(service), "PULUMI_CONFIG_PASSPHRASE=x")
	x.does("stack", "export", "--file", sealed)
	x.world.Env = folder
	x.does("stack", "import", "--file", sealed)
	unchanged()
	require.Equal(t, idsOf(t, before), idsOf(t, x.does("stack", "export")))
}

// TestHostedChain counts calls: each step of a chain of dependent resources costs one call when it begins, another one
// if it has new secrets, and none when it ends.
func TestHostedChain(t *testing.T) {
	t.Parallel()
	var program bytes.Buffer
	program.WriteString("name: one\nruntime: yaml\nresources:\n  p0: {type: random:RandomPet}\n")
	for i := range 20 {
		before := string(rune('a' + i - 1))
		if i == 0 {
			before = "p0"
		}
		fmt.Fprintf(&program, "  %c: {type: random:RandomPet, properties: {prefix: \"${%s.id}\", "+
			"keepers: {word: {fn::secret: hunter2}}}}\n", 'a'+i, before)
	}
	x := newHosted(t, program.String())
	x.does("stack", "init", "dev")
	x.world.ServiceDeferral = time.Hour
	x.Set(host.Behaviour{})
	x.does("up", "--yes", "--skip-preview")
	// One call as the stack, its provider and each of 21 pets begin, and one for the end of the last pet.
	calls := x.Calls()
	require.Equal(t, 2+21+1, calls["journalentries"])
	require.Equal(t, 20, calls["batch-encrypt"])
	require.Equal(t, 1, calls["encrypt"], "whether the service seals, before any step")
}

// TestHostedSecrets encrypts many configuration values, each with a ciphertext of its own, in one call and decrypts
// them in one call. If the service has no such calls, there is a call for each value.
func TestHostedSecrets(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string][]string{"at once": nil, "one by one": {"batch-encrypt", "batch-decrypt"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newHosted(t, onePet)
			x.does("stack", "init", "dev")
			x.Set(host.Behaviour{Forget: forget})
			x.does("config", "set-all", "--secret", "a=one", "--secret", "b=one", "--secret", "c=two", "--plaintext", "d=three")
			if calls := x.Calls(); forget == nil {
				require.Equal(t, 1, calls["batch-encrypt"])
				require.Zero(t, calls["encrypt"])
			} else {
				require.Equal(t, 3, calls["encrypt"])
			}
			settings, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
			require.NoError(t, err)
			ciphertexts := regexp.MustCompile(`secure: (\S+)`).FindAllString(string(settings), -1)
			require.Len(t, ciphertexts, 3)
			require.NotEqual(t, ciphertexts[0], ciphertexts[1])
			require.Equal(t, "one\n", x.does("config", "get", "b"))
			require.Equal(t, "two\n", x.does("config", "get", "c"))
			require.NotContains(t, string(settings), "two")
			x.does("stack", "init", "other", "--no-select")
			x.does("config", "copy", "--dest", "other")
			require.Equal(t, "two\n", x.does("config", "get", "c", "--stack", "other"))

			x.Set(host.Behaviour{Forget: forget})
			x.does("stack", "change-secrets-provider", "default")
			if calls := x.Calls(); forget == nil {
				require.Equal(t, 1, calls["batch-encrypt"])
				require.Zero(t, calls["encrypt"]+calls["decrypt"])
			}
			require.Equal(t, "one\n", x.does("config", "get", "a"))
		})
	}
}

// TestHostedNewSecrets requires one call that encrypts all new secrets of a step, although its outputs repeat them.
func TestHostedNewSecrets(t *testing.T) {
	t.Parallel()
	var program strings.Builder
	program.WriteString("name: one\nruntime: yaml\nresources:\n  pet:\n    type: random:RandomPet\n" +
		"    properties:\n      keepers:\n")
	for i := range 20 {
		fmt.Fprintf(&program, "        k%d: {fn::secret: hunter%d}\n", i, i%10)
	}
	x := newHosted(t, program.String())
	x.does("stack", "init", "dev")
	x.Set(host.Behaviour{})
	x.does("up", "--yes", "--skip-preview")
	calls := x.Calls()
	require.Equal(t, 1, calls["batch-encrypt"])
	require.Equal(t, 1, calls["encrypt"], "whether the service seals, before any step")
	exported := x.does("stack", "export", "--show-secrets")
	require.Equal(t, 2*2, strings.Count(exported, "hunter7"), "twice in the inputs, twice in the outputs")
	require.NotContains(t, x.does("stack", "export"), "hunter7")
}

// TestHostedBegins loses calls that begin or end operations, or the answers to them: the commands still succeed, and no
// operation holds the stack afterwards.
func TestHostedBegins(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	for name, faults := range map[string][]host.Fault{
		"created, and nobody heard":   {{Call: "dev/update", Times: 1, Kind: "lose-answer"}},
		"started, and nobody heard":   {{Call: "dev/update/", Times: 1, Kind: "lose-answer"}},
		"never started":               {{Call: "dev/update/", Times: 1, Kind: "lose"}},
		"ended, and nobody heard":     {{Call: "complete", Times: 1, Kind: "lose-answer"}},
		"previewed, and nobody heard": {{Call: "dev/update/", Times: 1, Kind: "lose-answer"}},
	} {
		x.Set(host.Behaviour{Faults: faults})
		skipped := fmt.Sprintf("--skip-preview=%t", name != "previewed, and nobody heard")
		require.Equal(t, 0, x.run("up", "--yes", skipped), "%s: %s", name, x.err.String())
		x.Set(host.Behaviour{})
		x.does("cancel", "--yes")
		require.Contains(t, x.err.String(), "Nothing was canceled", name)
		x.does("preview", "--expect-no-changes")
	}
	require.Len(t, idsOf(t, x.does("stack", "export")), 4)
}

// TestHostedKept continues from results that the service did not receive, even if the answer to the start of the next
// operation is lost. Only the user can read the file with the operation's token.
func TestHostedKept(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	x.Set(host.Behaviour{Faults: []host.Fault{{Call: "journalentries", After: 3, Kind: "lose"},
		{Call: "complete", Kind: "lose"}}})
	x.fails("up", "--yes", "--skip-preview")
	copies := filepath.Join(x.world.Home, ".pulumi/yamlhost/services/*/*/.pulumi")
	kept, err := filepath.Glob(filepath.Join(copies, "stacks/*/*.yamlhost-update"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	info, err := os.Stat(kept[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	half := kept[0] + ".yamlhost-tmp-KILLED" // left by a process that was killed while it wrote
	require.NoError(t, os.WriteFile(half, []byte("{"), 0o600))
	made := idsOf(t, x.does("stack", "export"))
	require.NotEmpty(t, made)
	x.Set(host.Behaviour{Faults: []host.Fault{{Call: "dev/update/", After: 1, Times: 1, Kind: "lose-answer"}}})
	x.does("up", "--yes", "--skip-preview")
	after := idsOf(t, x.does("stack", "export"))
	require.Len(t, after, 4)
	for _, id := range made {
		require.Contains(t, after, id)
	}
	require.NoFileExists(t, kept[0])
	require.NoFileExists(t, half)
}

// TestHostedKeptPastVersions continues from results that the service did not receive after operations that were begun
// and never heard of, and so used up versions of the stack. What another machine has changed meanwhile is newer.
func TestHostedKeptPastVersions(t *testing.T) {
	t.Parallel()
	for _, protocol := range [][]string{nil, {"journal"}} {
		x := newHosted(t, pets)
		x.does("stack", "init", "dev")
		x.does("config", "set", "--secret", "word", "hunter2")
		x.Set(host.Behaviour{Forget: protocol, Faults: []host.Fault{{Call: "journalentries", After: 3, Kind: "lose"},
			{Call: "checkpoint", After: 3, Kind: "lose"}, {Call: "complete", Kind: "lose"}}})
		x.fails("up", "--yes", "--skip-preview")
		made := idsOf(t, x.does("stack", "export"))
		require.NotEmpty(t, made)
		for n := range 2 { // before the start come calls that end the operation, or find out that it has ended
			x.Set(host.Behaviour{Forget: protocol, Faults: []host.Fault{
				{Call: "dev/update/", After: 1 + n, Times: 1, Kind: "lose-answer"}, {Call: "cancel", Kind: "lose"}}})
			x.fails("up", "--yes", "--skip-preview")
			x.Set(host.Behaviour{Forget: protocol})
			x.does("cancel", "--yes")
			require.Equal(t, made, idsOf(t, x.does("stack", "export")))
		}
		// As long as it cannot be known whether something has changed, nothing is done, and nothing forgotten.
		x.Set(host.Behaviour{Forget: protocol, Faults: []host.Fault{{Call: "/export/", Status: http.StatusForbidden}}})
		x.fails("up", "--yes", "--skip-preview")
		x.Set(host.Behaviour{Forget: protocol})
		x.does("up", "--yes", "--skip-preview")
		after := idsOf(t, x.does("stack", "export"))
		require.Len(t, after, 4)
		require.Subset(t, after, made)
		left, err := filepath.Glob(filepath.Join(x.world.Home, ".pulumi/yamlhost/services/*/*/.pulumi/stacks/*/*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestHostedReading cuts runs off while they read the state from the service, so that the operation is still open there.
// The next run on the same machine ends it and need not wait for its lease.
func TestHostedReading(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	open := 0
	for _, command := range []string{"up", "refresh", "up", "destroy"} {
		for after := range 4 {
			x.Set(host.Behaviour{Faults: []host.Fault{{Call: "/export", After: after, Kind: "lose"},
				{Call: "complete", Kind: "lose"}}})
			x.run(command, "--yes", "--skip-preview") // fails or not
			x.Set(host.Behaviour{})
			kept, err := filepath.Glob(filepath.Join(x.world.Home,
				".pulumi/yamlhost/services/*/*/.pulumi/stacks/*/*.yamlhost-update"))
			require.NoError(t, err)
			open += len(kept)
			require.Equal(t, 0, x.run(command, "--yes", "--skip-preview"), "%s, %d: %s", command, after, x.err.String())
		}
	}
	require.Positive(t, open)
}

// TestHostedWork applies plans, runs several stacks in order and reports a migration with a service.
func TestHostedWork(t *testing.T) {
	t.Parallel()
	x := newHosted(t, pets)
	x.does("stack", "init", "dev")
	x.does("config", "set", "--secret", "word", "hunter2")
	plan := filepath.Join(x.world.Dir, "plan.json")
	x.does("preview", "--save-plan", plan)
	text, err := os.ReadFile(plan)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
	x.does("config", "set", "length", "5")
	x.does("up", "--yes", "--plan", plan) // with the planned configuration
	require.Len(t, idsOf(t, x.does("stack", "export")), 4)
	x.does("config", "rm", "length")
	x.does("preview", "--expect-no-changes")
	require.Contains(t, x.fails("up", "--yes", "--plan", plan), "Make a new plan", "the state is another one")
	require.Contains(t, x.does("migrate", "--check"), "has 1 stack of this project")

	for name, program := range map[string]string{
		"first": "resources:\n  pet: {type: random:RandomPet}\noutputs: {pet: \"${pet.id}\"}\n",
		"second": "resources:\n  r: {type: 'pulumi:pulumi:StackReference', get: {id: tester/first/dev}}\n" +
			"  pet: {type: random:RandomPet, properties: {prefix: \"${r.outputs.pet}\"}}\n",
	} {
		dir := filepath.Join(x.world.Dir, "all", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: "+name+"\n"+program), 0o600))
	}
	x.world.Dir = filepath.Join(x.world.Dir, "all")
	x.does("run", "--all", "--stack", "dev")
	listed := x.does("stack", "ls", "--all")
	require.Contains(t, listed, "first")
	require.Contains(t, listed, "second")
	x.does("destroy", "--all", "--yes", "--stack", "dev")
}

// BenchmarkHosted reports the calls and bytes that `up` sends for n resources.
func BenchmarkHosted(b *testing.B) {
	for _, n := range []int{10, 1000} {
		for _, name := range []string{"journal", "deltas", "checkpoints", "folder"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var program strings.Builder
				program.WriteString("name: one\nruntime: yaml\nresources:\n")
				for i := range n {
					fmt.Fprintf(&program, "  p%d: {type: random:RandomPet}\n", i)
				}
				calls, bytes := 0, 0
				for range b.N {
					b.StopTimer()
					x := newHosted(b, program.String())
					if name == "folder" {
						x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL=file://"+b.TempDir(), "PULUMI_CONFIG_PASSPHRASE=x")
					}
					x.does("stack", "init", "dev")
					x.Set(behaviours[name])
					b.StartTimer()
					x.does("up", "--yes", "--skip-preview")
					for _, n := range x.Calls() {
						calls += n
					}
					bytes += x.Bytes()
				}
				b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
				b.ReportMetric(float64(bytes)/float64(b.N), "sent-B/op")
			})
		}
	}
}

// An update that has not ended has no end time in the history, and stack shows no zero time for it.
func TestHostedUnfinished(t *testing.T) {
	t.Parallel()
	x := newHosted(t, onePet)
	x.does("stack", "init", "dev")
	x.Set(host.Behaviour{Faults: []host.Fault{{Call: "/complete", Status: 503}}})
	x.fails("up", "--yes")
	var history []map[string]any
	require.NoError(t, json.Unmarshal([]byte(x.does("stack", "history", "--json")), &history))
	require.Len(t, history, 1)
	require.NotContains(t, history[0], "endTime")
	require.Contains(t, x.does("stack"), "pet")
	require.NotContains(t, x.out.String(), "1970")
	require.NotContains(t, x.out.String(), "0001")
}
