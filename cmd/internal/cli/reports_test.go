package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// lifeProgram declares two resources, the second of which depends on the first.
const lifeProgram = `name: shop
runtime: yaml
resources:
  box: {type: drawer:Item, properties: {title: %s, kind: %s}}
  lid: {type: drawer:Item, properties: {title: "of ${box.title}", kind: k}}
%s
outputs:
  title: ${box.title}
`

// fixed matches the parts of reports that differ from run to run.
var fixed = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`"duration": \d+`), `"duration": 1`},
	{regexp.MustCompile(`"durationSeconds":\d+`), `"durationSeconds":1`},
	{regexp.MustCompile(`"timestamp":\d+`), `"timestamp":1`},
	{regexp.MustCompile(`time="[\d.]+"`), `time="0.001"`},
	{regexp.MustCompile(`::default::[0-9a-f-]{36}`), `::default::id`},
	{regexp.MustCompile(`"id":"[0-9a-f-]{36}"`), `"id":"uuid"`},
	{regexp.MustCompile(`(box|lid|more|x-create)-[a-z2-7]{10}\b`), `$1-id`},
	{regexp.MustCompile(`(?m) in \d+(\.\d)?s$`), ``},
	{regexp.MustCompile(` \(\d+(\.\d)?s\)`), ``},
	{regexp.MustCompile(`"k":"[\d.]+s",?`), ``},
	{regexp.MustCompile(`(?s)<style>.*?</style>`), `<style>…</style>`},
	{regexp.MustCompile(`(?s)<script>.*?</script>`), `<script>…</script>`},
	{regexp.MustCompile(`script-src 'sha256-[^']*'`), `script-src …`},
}

// brittle is a drawer provider that fails to create resources named x-create.
type brittle struct {
	*drawer.Provider
	signals chan os.Signal
}

func (b brittle) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return b, nil
}

func (b brittle) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if strings.HasSuffix(r.Name, "x-create") && !r.Preview {
		return provider.CreateResponse{}, &provider.Error{Message: "no drawer is left\nbuy another one"}
	}
	return b.Provider.Create(ctx, r)
}

// Update sends a signal if the new title is amber. It sends two if it is green, and returns when its context is
// cancelled.
func (b brittle) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if titleOf(r.News) == "amber" && !r.Preview {
		b.signals <- syscall.SIGINT
	}
	if titleOf(r.News) == "green" && !r.Preview {
		b.signals <- syscall.SIGINT
		b.signals <- syscall.SIGTERM
		<-ctx.Done()
		return provider.UpdateResponse{}, ctx.Err()
	}
	return b.Provider.Update(ctx, r)
}

type brittles struct {
	drawers
	signals chan os.Signal
}

func (b brittles) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "drawer" {
		return nil, &provider.MissingError{Package: p.Name}
	}
	return brittle{b.Provider, b.signals}, nil
}

// reportWorld returns a terminal with a drawer provider that can fail, and with a stack.
func reportWorld(t *testing.T) (*terminal, *drawer.Provider) {
	t.Helper()
	signals := make(chan os.Signal, 2)
	x := newTerminal(t, fmt.Sprintf(lifeProgram, "red", "small", ""))
	d := &drawer.Provider{Dir: t.TempDir()}
	x.world.Embedded = []console.EmbeddedProviders{brittles{drawers{d}, signals}}
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
	x.world.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	x.world.Signals = signals
	return x, d
}

func (x *terminal) program(t *testing.T, title, kind, more string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), fmt.Appendf(nil, lifeProgram, title, kind,
		more), 0o644))
}

// allKinds returns flags that write a report of each kind into dir.
func allKinds(dir string) (flags []string) {
	for _, kind := range report.Kinds() {
		flags = append(flags, "--out", kind+"="+filepath.Join(dir, kind))
	}
	return flags
}

// compareReports compares the reports in dir with a golden archive.
func compareReports(t *testing.T, name, dir string) {
	t.Helper()
	var archive txtar.Archive
	for _, kind := range report.Kinds() {
		text, err := os.ReadFile(filepath.Join(dir, kind))
		require.NoError(t, err)
		for _, f := range fixed {
			text = f.pattern.ReplaceAll(text, []byte(f.with))
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		archive.Files = append(archive.Files, txtar.File{Name: kind, Data: text})
	}
	path := filepath.Join("testdata", "reports", name+".txtar")
	got := string(txtar.Format(&archive))
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with UPDATE_GOLDENS=1 to write it")
	if string(want) != got {
		changes := strings.Split(string(diff.Diff("golden", want, "now", []byte(got))), "\n")
		t.Errorf("%s:\n%.4000s", path, strings.Join(changes[:min(40, len(changes))], "\n"))
	}
}

// Reports of every kind on the operations of one program match the goldens, also after a failure or an interrupt.
func TestReportsOfALife(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	step := func(name string, code int, title, kind, more string, args ...string) {
		t.Helper()
		x.program(t, title, kind, more)
		dir := t.TempDir()
		require.Equal(t, code, x.run(append(args, allKinds(dir)...)...), x.err.String())
		compareReports(t, name, dir)
	}
	up := []string{"up", "--yes", "--skip-preview", "--parallel", "1"}
	step("check", 12, "red", "small", "  bad: {type: drawer:Item, properties: {titel: t, kind: k}}", "check")
	step("create", 0, "red", "small", "", up...)
	step("change", 0, "blue", "small", "", up...)
	step("replace", 0, "blue", "large", "", up...)
	step("preview", 0, "blue", "huge", "  more: {type: drawer:Item, properties: {title: \"${lid.title}\", kind: k}}",
		"preview", "--parallel", "1")
	step("fail", 14, "blue", "large", "  x-create: {type: drawer:Item, properties: {title: t, kind: k}}\n"+
		"  more: {type: drawer:Item, properties: {title: \"${x-create.title}\", kind: k}}", up...)
	step("program", 12, "blue", "large", "  bad: {type: drawer:Item, properties: {titel: t, kind: k}}", up...)

	step("interrupt", 8, "green", "large", "", up...)
}

// An operation has ended alike in every text about it: its own report, the history, and what the history keeps for the
// console. The member that the Pulumi CLI reads has only two words.
func TestEndsHaveOneWord(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	more := "  x-create: {type: drawer:Item, properties: {title: t, kind: k}}\n"
	for _, c := range []struct {
		title, more string
		code        int
		said, word  string // at the beginning of the last lines of the report, and in the history
	}{
		{"red", "", 0, "Resources:", "succeeded"},
		{"red", more, console.CodeFailed, "Failed.", "failed"},
		{"amber", "", console.CodeInterrupted, "Interrupted.", "interrupted"},
		{"green", "", console.CodeCancelled, "Interrupted.", "interrupted"},
	} {
		x.program(t, c.title, "small", c.more)
		for len(x.world.Signals) > 0 {
			<-x.world.Signals
		}
		require.Equal(t, c.code, x.run("up", "--yes", "--skip-preview", "--parallel", "1"), x.err.String())
		require.Contains(t, "\n"+x.err.String(), "\n"+c.said, c.title)
		require.Equal(t, 0, x.run("stack", "history", "--page-size", "1"), x.err.String())
		require.Contains(t, x.out.String(), " update "+c.word+" ", c.title)
		require.Equal(t, 0, x.run("stack", "history", "--json", "--page-size", "1"), x.err.String())
		result := `"result": "succeeded"`
		if c.code != 0 {
			result = `"result": "failed"`
		}
		require.Contains(t, x.out.String(), result, c.title)
		require.Equal(t, c.word == "interrupted", strings.Contains(x.out.String(), `"interrupted": true`), c.title)
	}
}

// --json and check --format write the same report as --out.
func TestJSONIsTheKindOfThatName(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	internal := regexp.MustCompile(`(?m)^.*"type":"pulumi:providers:.*\n`) // F7.4: only files have them
	same := func(kind string, code int, args ...string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "report")
		require.Equal(t, code, x.run(append(args, "--out", kind+"="+path)...), x.err.String())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		plain := func(text string) string {
			for _, f := range fixed[:3] {
				text = f.pattern.ReplaceAllString(text, f.with)
			}
			return text
		}
		require.NotEmpty(t, text)
		require.Equal(t, plain(x.out.String()), internal.ReplaceAllString(plain(string(text)), ""))
	}
	same("json", 0, "preview", "--json")
	same("events", 0, "up", "--yes", "--json")
	same("events", 0, "refresh", "--yes", "--skip-preview", "--json")
	x.program(t, "red", "small", "  bad: {type: drawer:Item, properties: {titel: t, kind: k}}")
	for _, format := range []string{"json", "sarif", "github", "gitlab", "junit", "markdown", "html", "events"} {
		same(format, 12, "check", "--format", format)
	}
	same("json", 12, "preview", "--json")
}

// A report that cannot be written, is unknown or is requested twice stops the command before it changes anything.
func TestReportsAreOpenedFirst(t *testing.T) {
	t.Parallel()
	x, d := reportWorld(t)
	folder := t.TempDir()
	for _, c := range []struct{ flags, want string }{
		{"--out junit=" + folder, "the report junit cannot be written to " + folder},
		{"--out junti=x", `there is no report of the kind "junti"; did you mean junit?`},
		{"--out junit", "--out takes KIND=FILE"},
		{"--out json=- --out sarif=-", "two reports go to -: json and sarif"},
		{"--out json=- --json", "both write to standard output"},
		{"--ci travis", `--ci takes auto, none, github`},
	} {
		require.NotEqual(t, 0, x.run(append([]string{"up", "--yes", "--skip-preview"}, strings.Fields(c.flags)...)...),
			c.flags)
		require.Contains(t, x.err.String(), c.want)
		objects, err := drawer.Objects(d.Dir)
		require.NoError(t, err)
		require.Empty(t, objects, c.flags)
	}
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview", "--out", "markdown=-"), x.err.String())
	require.True(t, strings.HasPrefix(x.out.String(), "### "), "standard output has the report and nothing else: %s",
		x.out.String())
	require.Contains(t, x.err.String(), "title:")
}

// CI systems get reports without a flag, except with --ci none.
func TestCISystemsAreTold(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	env := x.world.Env
	dir := filepath.Dir(x.world.Dir)
	summary, outputs := filepath.Join(dir, "summary"), filepath.Join(dir, "outputs")
	x.world.Env = append(env[:len(env):len(env)], "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+dir, "GITHUB_STEP_SUMMARY="+
		summary, "GITHUB_OUTPUT="+outputs,
		"GITHUB_RUN_ID=7", "GITHUB_SERVER_URL=https://github.example", "GITHUB_REPOSITORY=o/r")
	x.program(t, "red", "small", "  secret: {type: drawer:Item, properties: {title: {fn::secret: canary}, kind: k}}")
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"),
		append(text, "  hush: ${secret.title}\n  lines: \"a\\nresult=forged\"\n"...), 0o644))
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview", "--ci", "none"), x.err.String())
	require.NoFileExists(t, summary)
	require.Equal(t, 0, x.run("preview"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	require.Equal(t, 2, strings.Count(read(summary), "### "), "each command adds its summary")
	require.Contains(t, read(summary), "https://github.example/o/r/actions/runs/7")
	require.Contains(t, read(outputs), "result=ok\nexit-code=0\nchanges=false\n")
	require.Contains(t, read(outputs), "output-title=red\n")
	require.Regexp(t, `output-lines<<(end-\w+)\na\nresult=forged\nend-`, read(outputs))
	require.NotContains(t, read(outputs)+read(summary), "canary")
	require.NotContains(t, read(outputs), "hush")
	x.program(t, "red", "small", "  bad: {type: drawer:Item, properties: {titel: t, kind: k}}")
	require.NotEqual(t, 0, x.run("preview"))
	require.Regexp(t, `(?m)^::error file=project/Pulumi.yaml,line=6,`, x.err.String(), "paths are those of the repository")

	x.world.Env = append(env[:len(env):len(env)], "GITLAB_CI=true", "CI_PROJECT_DIR="+dir)
	require.NotEqual(t, 0, x.run("preview"))
	require.Contains(t, read(filepath.Join(dir, report.GitLabQuality)), `"path": "project/Pulumi.yaml"`)
	require.Contains(t, read(filepath.Join(dir, report.GitLabTests)), "<testsuites ")
	require.JSONEq(t, `{"create":0,"update":0,"delete":0}`, read(filepath.Join(dir, report.GitLabPlan)))
}

// The preview of an operation is folded in the logs of CI systems, except with --ci none.
func TestPlansAreFoldedInLogs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ env, begin, end string }{
		"github": {"GITHUB_ACTIONS=true", "::group::Previewing update dev\n", "\n::endgroup::\n"},
		"gitlab": {"GITLAB_CI=true", "\x1b[0Ksection_start:1700000000:yamlhost_plan\r\x1b[0KPreviewing update dev\n",
			"\x1b[0Ksection_end:1700000000:yamlhost_plan\r\x1b[0K\n"},
		"azure":     {"TF_BUILD=True", "##[group]Previewing update dev\n", "##[endgroup]\n"},
		"buildkite": {"BUILDKITE=true", "--- Previewing update dev\n", ""},
		"teamcity": {"TEAMCITY_VERSION=2026", "##teamcity[blockOpened name='Previewing update dev']\n",
			"##teamcity[blockClosed name='Previewing update dev']\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, _ := reportWorld(t)
			x.world.Env = append(x.world.Env, c.env)
			x.streams.ErrTerminal = false
			require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
			begin := strings.Index(x.err.String(), c.begin)
			require.GreaterOrEqual(t, begin, 0, x.err.String())
			end := strings.Index(x.err.String(), c.end)
			require.GreaterOrEqual(t, end, 0, x.err.String())
			require.Less(t, begin, strings.Index(x.err.String(), "to create"))
			require.Greater(t, strings.Index(x.err.String(), "Updating"), end)
			require.Equal(t, 0, x.run("up", "--yes", "--ci", "none"), x.err.String())
			require.NotContains(t, x.err.String(), c.begin)
			x.streams.ErrTerminal = true
			require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
			require.NotContains(t, x.err.String(), c.begin, "on a terminal")
		})
	}
}

// The answer `details` shows every property and repeats the question.
func TestQuestionTellsDetails(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	x.streams.In = strings.NewReader("details\nno\n")
	require.Equal(t, 1, x.run("up"), x.err.String())
	require.Equal(t, 2, strings.Count(x.err.String(), "(yes/no/details)"))
	require.Contains(t, x.err.String(), "+  box drawer:Item: create\n     + kind: \"small\"\n     + title: \"red\"\n")
	require.Contains(t, x.err.String(), "(yes/no/details): declined, nothing was changed\n",
		"an answer is no error")
	x.streams.In = strings.NewReader("d\nyes\n")
	require.Equal(t, 0, x.run("up"), x.err.String())
}

// A plan that only deletes has shown everything: its question offers no details.
func TestNoDetailsOfDeletions(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	x.streams.In = strings.NewReader("details\n")
	require.NotEqual(t, 0, x.run("destroy"))
	require.Contains(t, x.err.String(), "(yes/no): declined, nothing was changed\n")
	require.Contains(t, x.err.String(), "Destroys 1 object: 1 of the 2 to delete\n")

	// A plan of updates has shown everything, unless properties are new.
	program := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte("name: one\nruntime: yaml\n"+
			"resources:\n  pet: {type: random:RandomPet, properties: {length: "+text+"}}\n"), 0o644))
	}
	program("3")
	x.streams.In = strings.NewReader("no\n")
	require.Equal(t, 1, x.run("up"))
	require.Contains(t, x.err.String(), "(yes/no): ", x.err.String())
	program("3}}\n  new: {type: random:RandomPet, properties: {length: 1")
	x.streams.In = strings.NewReader("no\n")
	require.Equal(t, 1, x.run("up"))
	require.Contains(t, x.err.String(), "(yes/no/details): ", x.err.String())
}

// An operation that changes no resource and no output asks nothing. It still records options that no provider sees.
func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	x.streams.In = strings.NewReader("")
	for _, command := range []string{"up", "refresh"} {
		require.Equal(t, 0, x.run(command), x.err.String())
		require.NotContains(t, x.err.String(), "(yes/no")
	}
	require.Equal(t, 1, x.run("destroy"), x.err.String())
	require.Contains(t, x.err.String(), "(yes/no")
	x.program(t, "red", "small", "  more: {type: drawer:Item, properties: {title: t, kind: k}}")
	require.Equal(t, 1, x.run("up"), x.err.String())
	require.Contains(t, x.err.String(), "(yes/no")

	x.program(t, "red", "small", "")
	file := filepath.Join(x.world.Dir, "Pulumi.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	protected := bytes.Replace(text, []byte("kind: small}}"), []byte("kind: small}, options: {protect: true}}"), 1)
	require.NotEqual(t, string(text), string(protected))
	require.NoError(t, os.WriteFile(file, protected, 0o644))
	require.Equal(t, 0, x.run("up"), x.err.String())
	require.NotContains(t, x.err.String(), "(yes/no")
	require.Equal(t, 0, x.run("stack", "export"), x.err.String())
	require.Contains(t, x.out.String(), `"protect": true`)
}

// A plan on standard output masks known secrets wherever they appear, as standard error does.
func TestPlanOnStandardOutputHidesSecrets(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	x.program(t, "{fn::secret: canary-word}", "small",
		"  tell: {type: drawer:Item, properties: {title: a canary-word, kind: k}}")
	require.Equal(t, 0, x.run("preview", "--diff", "--parallel", "1"), x.err.String())
	require.Contains(t, x.out.String(), "tell")
	require.NotContains(t, x.out.String()+x.err.String(), "canary-word")
}

// A panic of the program leaves every report complete. Reports that can hold messages mention the internal error.
func TestReportsAreCompleteAfterACrash(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	x.world.Process = func() backend.Process { panic("a fault of ours") }
	dir := t.TempDir()
	x.world.Env = append(x.world.Env, "TMPDIR="+dir)
	require.Equal(t, console.CodeInternal, x.run(append([]string{"up", "--yes"}, allKinds(dir)...)...), x.err.String())
	read := func(kind string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, kind))
		require.NoError(t, err)
		return text
	}
	for _, kind := range []string{"json", "sarif", "gitlab"} {
		require.True(t, json.Valid(read(kind)), "%s: %s", kind, read(kind))
	}
	require.NoError(t, xml.Unmarshal(read("junit"), new(struct{ XMLName xml.Name })))
	require.Contains(t, string(read("html")), "</html>")
	for line := range strings.Lines(string(read("events"))) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	for _, kind := range []string{"json", "markdown", "text", "html", "junit"} {
		require.Contains(t, string(read(kind)), "internal error", kind)
	}
}

// A plan is bound to the plugins that it was made with: another executable with the same version is refused before the
// stack changes.
func TestPlanRefusesAnotherPlugin(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	plugin := filepath.Join(x.world.Home, ".pulumi", "plugins", "resource-zoo-v1.2.3", "pulumi-resource-zoo")
	require.NoError(t, os.MkdirAll(filepath.Dir(plugin), 0o755))
	require.NoError(t, os.WriteFile(plugin, []byte("#!/bin/sh\nexit 1\n"), 0o755))
	path := filepath.Join(x.world.Dir, "plan.json")
	require.Equal(t, 0, x.run("preview", "--save-plan", path), x.err.String())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var plan map[string]any
	require.NoError(t, json.Unmarshal(text, &plan))
	bound := plan["yamlhost"].(map[string]any)
	bound["plugins"] = map[string]any{"zoo@1.2.3": strings.Repeat("0", 64)}
	text, err = json.Marshal(plan)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o644))
	require.Equal(t, console.CodePlan, x.run("run", "--plan", path), x.err.String())
	require.Equal(t, 1, strings.Count(x.err.String(), "the plugin zoo@1.2.3 is not the one that the plan was made with"))
	require.Equal(t, 0, x.run("stack", "export"), x.err.String())
	require.NotContains(t, x.out.String(), "drawer:index:Item")
}
