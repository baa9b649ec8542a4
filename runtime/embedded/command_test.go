//go:build unix

package embedded

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const commandType = "command:local:Command"

// shellEnviron is enough for /bin/sh to find its tools.
var shellEnviron = []string{"PATH=/usr/bin:/bin", "GREETING=hello"}

func TestCommandLifecycle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := configure(t, "command", Options{Dir: dir, Environ: shellEnviron})
	log := func() string {
		return testfile.Text(t, filepath.Join(dir, "log"))
	}
	inputs := obj("create", `echo "create $GREETING $NAME" >> log; cat; echo oops >&2; echo; echo`, "stdin", "given\n",
		"environment", obj("NAME", "you"),
		"update", `echo "update [$PULUMI_COMMAND_STDOUT] [$PULUMI_COMMAND_STDERR]" >> log; echo second`,
		"delete", `echo "delete [$PULUMI_COMMAND_STDOUT]" >> log`)
	id, outputs := r.create(commandType, inputs)
	require.Regexp(t, `^res[0-9a-f]{8}$`, id)
	// One trailing line break is removed.
	want := inputs.With("stdout", value.String("given\n\n")).With("stderr", value.String("oops"))
	require.True(t, value.Equal(want, outputs))
	require.Equal(t, "create hello you\n", log())

	news := inputs.With("environment", obj("NAME", "me"))
	diff := r.diff(commandType, inputs, outputs, news)
	require.Equal(t, provider.DiffSome, diff.Changes)
	require.False(t, diff.Replace())
	require.Equal(t, map[string]provider.PropertyDiff{"environment.NAME": {Kind: provider.DiffUpdate, InputDiff: true}},
		diff.Detailed)

	update := provider.UpdateRequest{Subject: subject(commandType), ID: id, OldInputs: inputs, OldOutputs: outputs,
		News: news, Preview: true}
	preview, err := r.Update(t.Context(), update)
	require.NoError(t, err)
	require.False(t, at(preview.Outputs, "stdout").IsKnown())
	require.True(t, value.Equal(at(news, "environment"), at(preview.Outputs, "environment")))
	require.Equal(t, "create hello you\n", log(), "a preview runs nothing")
	update.Preview = false
	updated, err := r.Update(t.Context(), update)
	require.NoError(t, err)
	require.Equal(t, "second", text(updated.Outputs, "stdout"))
	require.Equal(t, "", text(updated.Outputs, "stderr"))
	require.Equal(t, "create hello you\nupdate [given\n\n] [oops]\n", log())

	require.NoError(t, r.Delete(t.Context(), provider.DeleteRequest{Subject: subject(commandType), ID: id,
		Outputs: updated.Outputs}))
	require.True(t, strings.HasSuffix(log(), "delete [second]\n"))
}

func TestCommandUpdateWithoutItsOwnCommand(t *testing.T) {
	t.Parallel()
	r := configure(t, "command", Options{Dir: t.TempDir(), Environ: shellEnviron})
	old := obj("create", "x", "stdout", "old", "stderr", "")
	for _, c := range []struct {
		name string
		news value.Value
		want string
	}{
		{"create runs again", obj("create", "echo $PULUMI_COMMAND_STDOUT again"), "old again"},
		{"without the output before", obj("create", "echo [$PULUMI_COMMAND_STDOUT]", "addPreviousOutputInEnv", false), "[]"},
		{"nothing to run", obj("delete", "true"), "old"},
	} {
		got, err := r.Update(t.Context(), provider.UpdateRequest{Subject: subject(commandType), ID: "x", OldOutputs: old,
			News: c.news})
		require.NoError(t, err)
		require.Equal(t, c.want, text(got.Outputs, "stdout"), c.name)
		require.Equal(t, text(c.news, "create"), text(got.Outputs, "create"), "removed inputs leave the outputs")
	}
}

func TestCommandTriggersReplace(t *testing.T) {
	t.Parallel()
	r := configure(t, "command", Options{})
	before := obj("create", "x", "triggers", []string{"1"})
	got := r.diff(commandType, before, before, obj("create", "x", "triggers", []string{"2", "3"}))
	require.Equal(t, []string{"triggers"}, got.Replaces)
	require.Equal(t, map[string]provider.PropertyDiff{
		"triggers[0]": {Kind: provider.DiffUpdateReplace, InputDiff: true}, "triggers[1]": {Kind: provider.DiffAddReplace,
			InputDiff: true},
	}, got.Detailed)
}

func TestCommandAssets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := configure(t, "command", Options{Dir: dir, Environ: shellEnviron})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "work"), 0o755))
	script := `mkdir -p assets/logos src; echo logo > assets/logos/logo.svg; echo js > src/index.js; echo s > src/secret.js; ln -s src linked`
	_, outputs := r.create(commandType, obj("create", script, "dir", "work",
		"assetPaths", []string{"assets/**", "src/**.js", "!**secret.*", "linked"}, "archivePaths", []string{"src/*"}))
	assets := at(outputs, "assets")
	require.Equal(t, []string{"assets/logos/logo.svg", "src/index.js"}, assets.Keys())
	logo, ok := at(assets, "assets/logos/logo.svg").AsAsset()
	require.True(t, ok)
	require.Equal(t, "work/assets/logos/logo.svg", logo.Path)
	want, err := value.AssetDigest(&value.Asset{Text: "logo\n", HasText: true}, nil)
	require.NoError(t, err)
	require.Equal(t, want, logo.Hash)
	archive, ok := at(outputs, "archive").AsArchive()
	require.True(t, ok)
	require.Equal(t, []string{"src/index.js", "src/secret.js"}, archive.Assets.Keys())
	require.Len(t, archive.Hash, 64)

	inputs := r.check(commandType, obj("create", "true", "assetPaths", []string{"*"}))
	preview, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(commandType), Inputs: inputs,
		Preview: true})
	require.NoError(t, err)
	require.False(t, at(preview.Outputs, "assets").IsKnown())
	require.False(t, preview.Outputs.Has("archive"))
	_, outputs = r.create(commandType, obj("create", "true", "assetPaths", []string{"none*"}))
	require.True(t, at(outputs, "assets").Is(value.KindMap))
	require.Equal(t, 0, at(outputs, "assets").Len())
}

func TestCommandFailures(t *testing.T) {
	t.Parallel()
	r := configure(t, "command", Options{Dir: t.TempDir(), Environ: shellEnviron})
	fail := func(inputs value.Value) *provider.Error {
		t.Helper()
		_, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(commandType),
			Inputs: r.check(commandType, inputs)})
		var failed *provider.Error
		require.ErrorAs(t, err, &failed)
		return failed
	}
	err := fail(obj("create", "echo before; echo cause >&2; exit 3"))
	require.Equal(t, provider.Unclear, err.Outcome)
	require.Contains(t, err.Message, "exit status 3")
	_, shown, _ := strings.Cut(err.Message, "\n")
	require.ElementsMatch(t, []string{"before", "cause"}, strings.Split(shown, "\n"), "two streams, in either order")

	err = fail(obj("create", "i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; exit 1"))
	require.Contains(t, err.Message, "(30 lines before)")
	require.NotContains(t, err.Message, "line 29\n")
	require.Contains(t, err.Message, "line 49")

	err = fail(obj("create", "true", "dir", "nowhere"))
	require.Equal(t, provider.NothingHappened, err.Outcome)
	require.Contains(t, err.Message, "nowhere")
	err = fail(obj("create", "true", "interpreter", []string{"no-such-program"}))
	require.Equal(t, provider.NothingHappened, err.Outcome)
	require.Contains(t, err.Message, "no-such-program")
	err = fail(obj("create", "true", "assetPaths", []string{"[a"}))
	require.Contains(t, err.Message, "malformed")

	err = fail(obj("create", `echo "pass $P"; exit 1`, "environment", obj("P", value.String("hunter2").Secret())))
	require.NotContains(t, err.Message, "hunter2")
	require.Contains(t, err.Message, "pass [secret]")
	err = fail(obj("create", `echo "got $LONG and $SHORT"; exit 1`, "environment",
		obj("SHORT", value.String("hunter").Secret(), "LONG", value.String("hunter2secret").Secret())))
	require.Contains(t, err.Message, "got [secret] and [secret]", "a secret that contains another one leaves no rest")
	require.NotContains(t, err.Message, "2secret")
	err = fail(obj("create", value.String("echo hunter2; exit 1").Secret()))
	require.NotContains(t, err.Message, "exit 1;")
	require.NotContains(t, err.Error(), "echo hunter2")
}

func TestCommandSecretsAndLog(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []LogLine
	r := configure(t, "command", Options{Dir: t.TempDir(), Environ: shellEnviron, Log: func(l LogLine) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}})
	script := `echo "key $P"; printf 'no end' >&2`
	_, outputs := r.create(commandType, obj("create", script, "environment", obj("P", value.String("hunter2").Secret())))
	for _, key := range []string{"stdout", "stderr"} {
		require.True(t, at(outputs, key).IsSecret(), "it may have a secret of the environment")
	}
	require.False(t, at(outputs, "environment").IsSecret())
	require.True(t, at(outputs, "environment").Get("P").IsSecret(),
		"what shares its name with an input is marked as that is")
	require.Equal(t, "key hunter2", text(outputs, "stdout"))
	_, outputs = r.create(commandType, obj("create", value.String("echo hello").Secret()))
	require.True(t, at(outputs, "create").IsSecret())
	require.True(t, at(outputs, "stdout").IsSecret())
	urn := subject(commandType).URN
	require.ElementsMatch(t, []LogLine{{urn, false, true, "key [secret]"}, {urn, true, true, "no end"},
		{urn, false, true, "[secret]"}}, lines)

	for logging, want := range map[string][]LogLine{
		"none": nil, "stdout": {{urn, false, false, "key x"}}, "stderr": {{urn, true, false, "no end"}},
		"stdoutAndStderr": {{urn, false, false, "key x"}, {urn, true, false, "no end"}},
	} {
		lines = nil
		_, outputs := r.create(commandType, obj("create", script, "logging", logging, "environment", obj("P", "x")))
		require.False(t, outputs.ContainsSecret())
		require.ElementsMatch(t, want, lines, logging)
	}
}

// A secret is masked even if a read buffer or the length limit of a logged line splits it.
func TestCommandSecretsInPieces(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var logged strings.Builder
	r := configure(t, "command", Options{Dir: t.TempDir(), Environ: shellEnviron, Log: func(l LogLine) {
		mu.Lock()
		defer mu.Unlock()
		logged.WriteString(l.Text)
	}})
	script := `i=0; while [ $i -lt 3000 ]; do printf '%s.' "$P"; i=$((i+1)); done; exit 1`
	_, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(commandType),
		Inputs: obj("create", script, "environment", obj("P", value.String("hunter2secret").Secret()))})
	require.Equal(t, strings.Repeat("[secret].", 3000), logged.String())
	require.ErrorContains(t, err, "[secret].[secret].")
	for _, part := range []string{"hunt", "cret."} {
		require.NotContains(t, strings.ReplaceAll(err.Error(), "[secret]", ""), part)
	}
}

func TestSuppressSecretOutput(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []LogLine
	options := Options{Dir: t.TempDir(), Environ: shellEnviron, Log: func(l LogLine) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}}
	secret := obj("create", "echo $P | tr a-z b-za; exit 1", "environment", obj("P", value.String("hunter2").Secret()))
	urn := subject(commandType).URN
	_, err := configure(t, "command", options).Create(t.Context(), provider.CreateRequest{Subject: subject(commandType),
		Inputs: secret})
	require.ErrorContains(t, err, "ivoufs2", "what cannot be recognized")
	require.Equal(t, []LogLine{{urn, false, true, "ivoufs2"}}, lines)

	options.SuppressSecretOutput, lines = true, nil
	r := configure(t, "command", options)
	_, err = r.Create(t.Context(), provider.CreateRequest{Subject: subject(commandType), Inputs: secret})
	require.ErrorContains(t, err, "its output is not shown because some of its inputs are secret")
	require.NotContains(t, err.Error(), "ivoufs2")
	require.Empty(t, lines)
	_, outputs := r.create(commandType, obj("create", "echo hello"))
	require.Equal(t, "hello", text(outputs, "stdout"))
	require.Equal(t, []LogLine{{urn, false, false, "hello"}}, lines, "other commands print as ever")
}

func TestCommandRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := configure(t, "command", Options{Dir: dir, Environ: shellEnviron})
	args := obj("command", "pwd", "interpreter", []string{"/bin/sh", "-e", "-c"})
	got, err := r.Invoke(t.Context(), provider.InvokeRequest{Token: "command:local:run", Args: args, Preview: true})
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.Equal(t, real, text(got.Result, "stdout"))
	require.Equal(t, "pwd", text(got.Result, "command"))
	require.True(t, got.Result.Has("stderr"))

	got, err = r.Invoke(t.Context(), provider.InvokeRequest{Token: "command:local:run", Args: obj()})
	require.NoError(t, err)
	require.Equal(t, []provider.Failure{{Property: "command", Reason: `missing required property "command"`}},
		got.Failures)
	got, err = r.Invoke(t.Context(), provider.InvokeRequest{Token: "command:local:run",
		Args: obj("command", value.Unknown(value.KindString).Secret())})
	require.NoError(t, err)
	require.False(t, got.Result.IsKnown())
	require.True(t, got.Result.IsSecret())
}

// Cancelling ends the command and its children: at once if they obey the signal, and by force otherwise.
func TestCommandCancel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		timeout      float64
		cancel       func(context.CancelFunc, provider.Provider)
		want         string
	}{
		{"context", `echo up; sleep 600 & wait`, 0, func(stop context.CancelFunc, _ provider.Provider) { stop() },
			"cancelled"},
		{"provider", `echo up; sleep 600`, 0, func(_ context.CancelFunc,
			p provider.Provider) {
			_ = p.Cancel(context.Background())
		}, "cancelled"},
		{"one that does not obey", `trap '' TERM; echo up; while :; do sleep 600; done`, 0,
			func(stop context.CancelFunc, _ provider.Provider) { stop() }, "cancelled"},
		{"child in the background", `sleep 600 & echo up`, 0, func(stop context.CancelFunc, _ provider.Provider) { stop() },
			"cancelled"},
		{"timeout", `echo up; sleep 600`, 0.2, func(context.CancelFunc, provider.Provider) {}, "time limit was over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			up := make(chan struct{}, 10)
			loader := NewLoader(Options{Dir: t.TempDir(), Environ: shellEnviron, Grace: 50 * time.Millisecond,
				Log: func(LogLine) { up <- struct{}{} }})
			p, err := loader.Load(t.Context(), provider.Package{Name: "command"})
			require.NoError(t, err)
			configured, err := p.Configure(t.Context(), provider.ConfigureRequest{})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			failed := make(chan error, 1)
			go func() {
				_, err := configured.Create(ctx, provider.CreateRequest{Subject: subject(commandType),
					Inputs: obj("create", c.script), Timeout: c.timeout})
				failed <- err
			}()
			select {
			case <-up:
				c.cancel(stop, p)
			case err := <-failed: // a short timeout may be first
				failed <- err
			}
			select {
			case err := <-failed:
				require.ErrorContains(t, err, c.want)
			case <-time.After(time.Minute):
				t.Fatal("the command was not ended")
			}
		})
	}
	p, err := NewLoader(Options{}).Load(t.Context(), provider.Package{Name: "command"})
	require.NoError(t, err)
	configured, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = configured.Create(t.Context(), provider.CreateRequest{Subject: subject(commandType),
		Inputs: obj("create", "true")})
	require.ErrorContains(t, err, "cancelled", "a closed provider starts nothing")
}

func TestCommandPrintsMuch(t *testing.T) {
	t.Parallel()
	r := configure(t, "command", Options{Dir: t.TempDir(), Environ: shellEnviron, Log: func(LogLine) {}})
	_, outputs := r.create(commandType, obj("create", `head -c 300000 /dev/zero | tr '\0' x`))
	require.Len(t, text(outputs, "stdout"), 300000)
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.txt", "a.txt", true}, {"*.txt", "d/a.txt", false}, {"**.txt", "d/a.txt", true}, {"d/**", "d/e/f", true},
		{"d/**", "d", false},
		{"?.go", "a.go", true}, {"?", "/", false}, {"[a-c]x", "bx", true}, {"[!a-c]x", "bx", false}, {"[!a-c]x", "dx", true},
		{"{a,b/{c,d}}.x", "b/d.x", true}, {"{a,b}.x", "c.x", false}, {"a,b", "a,b", true}, {`\*`, "*", true},
		{`\*`, "a", false},
		{"a.b", "axb", false}, {"名*", "名前", true}, {"[^]", "^", true},
	} {
		match, err := compileGlob(c.pattern)
		require.NoError(t, err, c.pattern)
		require.Equal(t, c.want, match.MatchString(c.name), "%s on %s", c.pattern, c.name)
	}
	for _, bad := range []string{"[a", "{a", "a}", `a\`, "[]", "[!]", "[z-a]"} {
		_, err := compileGlob(bad)
		require.Error(t, err, bad)
	}
}

func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"**/*.x", "[!a-z]{b,c}", `\`, "[[:alpha:]]", "名"} {
		f.Add(seed, "a/b.x")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if match, err := compileGlob(pattern); err == nil {
			match.MatchString(name)
		}
	})
}
