package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// parrot is a gossip whose type has an input that only the schema calls secret. It repeats the input in errors and in
// an output of another name, which the schema calls secret as well.
type parrot struct {
	gossip
	signals chan<- os.Signal // receives an interrupt during the creation of a resource whose name ends in -wait
}

func (p parrot) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return p, nil
}

func (p parrot) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	pin, _ := r.Inputs.Lookup("pin")
	text, _ := pin.AsString()
	if strings.HasSuffix(r.Name, "-wait") && !r.Preview {
		p.signals <- os.Interrupt // the run waits for the end of this call
		return provider.CreateResponse{}, errors.New("interrupted while making " + titleOf(r.Inputs) + text)
	}
	out, err := p.gossip.Create(ctx, r)
	if err != nil && text != "" {
		err = &provider.Error{Message: err.Error() + inEveryForm(text)}
	}
	if text != "" {
		out.Outputs = out.Outputs.With("note", value.String("with "+text))
	}
	return out, err
}

func (p parrot) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if strings.Contains(titleOf(r.News), "refused") {
		return p.gossip.Update(ctx, r)
	}
	out, err := p.gossip.Provider.Update(ctx, r)
	out.Outputs = out.Outputs.With("tag", value.String("canary-output").Secret())
	return out, err
}

func (p parrot) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	answer, err := p.gossip.Diff(ctx, r)
	if strings.HasSuffix(r.Name, "-diff") {
		err = errors.New("cannot compare " + titleOf(r.News))
	}
	return answer, err
}

func (p parrot) Delete(ctx context.Context, r provider.DeleteRequest) error {
	if strings.HasSuffix(r.Name, "-keep") {
		return errors.New("cannot delete " + titleOf(r.Inputs) + titleOf(r.Outputs))
	}
	return p.gossip.Delete(ctx, r)
}

func (p parrot) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	if strings.HasSuffix(r.Name, "-read") {
		return provider.ReadResponse{}, errors.New("cannot read " + titleOf(r.Inputs) + titleOf(r.Outputs))
	}
	return p.gossip.Read(ctx, r)
}

func (p parrot) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	text, err := p.gossip.Provider.Schema(ctx, r)
	more := `"pin": {"type": "string", "secret": true}, "note": {"type": "string", "secret": true}, "title"`
	return []byte(strings.ReplaceAll(string(text), `"title": {`, more+`: {`)), err
}

// endsWatch is an output that interrupts watch after its first plan.
type endsWatch struct {
	io.Writer
	signals chan<- os.Signal
}

func (w *endsWatch) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("Waiting for changes")) {
		select {
		case w.signals <- os.Interrupt:
		default: // it has been interrupted
		}
	}
	return w.Writer.Write(text)
}

type parrots struct{ parrot }

func (p parrots) Load(_ context.Context, pkg provider.Package) (provider.Provider, error) {
	if pkg.Name != "drawer" {
		return nil, &provider.MissingError{Package: pkg.Name}
	}
	return p.parrot, nil
}

func (p parrots) Schema(name string) ([]byte, bool) {
	if name != "drawer" {
		return nil, false
	}
	text, err := p.parrot.Schema(context.Background(), provider.SchemaRequest{})
	return text, err == nil
}

// A canaryLine is a line of the table of command lines.
type canaryLine struct {
	text     string
	program  string     // the name of the program; empty for the usual one
	fails    bool       // the last command fails
	shows    bool       // the last command is asked for a secret, and shows it
	pending  bool       // the last operation of the stack was interrupted
	commands [][]string // run one after the other
}

// canaryForms are flags that give a command another output. Each command that has one of them has a line with it.
var canaryForms = []string{"causes", "debug", "diff", "event-log", "format", "json", "out", "shell",
	"show-secrets", "why"}

// TestCommandsKeepSecrets runs the command lines of testdata/canaries/commands.txtar, each with a copy of the same two
// stacks, whose secrets come from everywhere. There is a line for every command of the tree and for every form of its
// output. No output and no file that a line writes has a secret, unless the line says that it shows them.
func TestCommandsKeepSecrets(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/canaries/commands.txtar")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range archive.Files {
		texts[f.Name] = string(f.Data)
	}
	lines, without := canaryLines(t, texts["lines"]), map[string]string{}
	for line := range strings.Lines(texts["without a line"]) {
		path, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		without[path] = reason
	}
	t.Run("every command", func(t *testing.T) { everyCommandHasLines(t, lines, without) })

	template := newTerminal(t, texts["programs/usual"])
	root := filepath.Dir(template.world.Dir)
	for name, text := range texts {
		if path, is := strings.CutPrefix(name, "files/"); is {
			path = filepath.Join(root, path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	template.streams.InTerminal, template.streams.ErrTerminal = false, false
	// in returns a terminal in a folder that has what the template has.
	in := func(dir string) *terminal {
		signals := make(chan os.Signal, 1)
		x := &terminal{streams: template.streams, world: template.world}
		x.streams.In, x.streams.Out = strings.NewReader(""), &endsWatch{&x.out, signals}
		x.streams.Err = &endsWatch{&x.err, signals}
		x.world.Dir, x.world.Home, x.world.Signals = filepath.Join(dir, "project"), filepath.Join(dir, "home"), signals
		x.world.Env = []string{"NO_COLOR=1", "TERM=dumb", "PULUMI_CONFIG_PASSPHRASE=canary-passphrase", "EDITOR=true",
			"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(filepath.Join(dir, "state")), "PATH=" + os.Getenv("PATH"),
			"TMPDIR=" + filepath.Join(dir, "home"), "PULUMI_IGNORE_AMBIENT_PLUGINS=true",
			"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true"}
		objects := filepath.Join(dir, "objects") // the provider may keep plain text
		x.world.Embedded = []console.EmbeddedProviders{parrots{parrot{gossip{&drawer.Provider{Dir: objects}}, signals}}}
		return x
	}
	for _, folder := range []string{"objects", "asked"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, folder), 0o700))
	}
	x := in(root)
	for line := range strings.Lines(texts["setup"]) {
		require.Zero(t, x.run(strings.Fields(line)...), "%s%s%s", line, x.out.String(), x.err.String())
	}
	require.Zero(t, x.run("stack", "output", "generated", "--show-secrets"))
	canaries := canaryTexts("canary-", strings.TrimSpace(x.out.String()))
	written := filesIn(t, root) // by the setup: the user's own texts, and what the lines must not have
	for name, text := range written {
		if _, own := texts["files/"+name]; !own && name != "project/Pulumi.yaml" &&
			!strings.HasPrefix(name, "objects/") &&
			!strings.HasPrefix(name, "project/environments/") {
			findCanary(t, canaries, name, text)
		}
	}
	// copied returns a terminal in a copy of the template, with a program; the usual one if program is empty.
	copied := func(t *testing.T, program string) (*terminal, string) {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(root)))
		x := in(dir)
		require.Zero(t, x.run("stack", "select", "dev"), x.err.String()) // a selection belongs to a path
		if program != "" {
			text, is := texts["programs/"+program]
			require.True(t, is, "there is no program %s", program)
			require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(text), 0o600))
		}
		return x, dir
	}
	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		for _, program := range []string{"", "mistakes", "syntax"} {
			x, _ := copied(t, program)
			for id, a := range conversation(t, x, []string{"--allow-plan"}, calling("check", "check", `{}`),
				calling("graph", "graph", `{"file":"Pulumi.yaml"}`), calling("plan", "plan", `{}`),
				calling("schema", "schema", `{"type":"drawer:Item"}`),
				calling("file", "check", `{"file":"Pulumi.dev.yaml"}`)) {
				findCanary(t, canaries, "mcp "+id, a.line)
			}
			findCanary(t, canaries, "the errors of mcp", x.err.String())
		}
	})
	t.Run("lsp", func(t *testing.T) {
		t.Parallel()
		for _, program := range []string{"usual", "mistakes", "syntax"} {
			x, _ := copied(t, program)
			x.streams.In = strings.NewReader(askedEverywhere(filepath.Join(x.world.Dir, "Pulumi.yaml"),
				texts["programs/"+program]))
			require.Zero(t, x.run("lsp"), x.err.String())
			require.Greater(t, strings.Count(x.out.String(), `"result"`), 10)
			findCanary(t, canaries, "lsp with the program "+program, x.out.String()+x.err.String())
		}
	})
	for _, line := range lines {
		t.Run(line.text, func(t *testing.T) {
			t.Parallel()
			x, dir := copied(t, line.program)
			if line.pending {
				path := filepath.Join(dir, "state", ".pulumi", "stacks", "can", "dev.json")
				cutIn(t, path, "updating", "urn:pulumi:dev::can::drawer:index:Item::literal")
				cutIn(t, path, "creating", "urn:pulumi:dev::can::drawer:index:Item::all")
			}
			before := filesIn(t, dir)
			code := 0
			for i, args := range line.commands {
				args = slices.Clone(args)
				for j := range args {
					args[j] = strings.ReplaceAll(args[j], "DIR", dir)
					if args[j] == "--every-out" {
						folder := filepath.Join(dir, fmt.Sprint("reports", i))
						args = slices.Concat(args[:j], allKinds(folder), args[j+1:])
						break
					}
				}
				code = x.run(args...)
				said := x.out.String() + x.err.String()
				if i+1 < len(line.commands) {
					require.NotEqual(t, console.CodeBadUsage, code, said)
				}
				if i+1 == len(line.commands) && line.shows {
					require.Contains(t, said, "canary-")
					return
				}
				findCanary(t, canaries, "the output of "+strings.Join(args, " "), said)
			}
			require.Equal(t, line.fails, code != 0, "code %d\n%s%s", code, x.out.String(), x.err.String())
			require.NotEqual(t, console.CodeInternal, code)
			for name, text := range filesIn(t, dir) {
				folder, _, _ := strings.Cut(name, "/")
				// A document of an environment is the user's own text; a line writes what was asked for to asked.
				if text != before[name] && folder != "objects" && folder != "asked" &&
					!strings.HasPrefix(name, "project/environments/") {
					findCanary(t, canaries, name, text)
				}
			}
		})
	}
}

// askedEverywhere returns the messages of an editor that opens a program and asks everything at many places of it.
func askedEverywhere(path, program string) string {
	var all strings.Builder
	id := 0
	send := func(method, params string) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
		if !strings.HasPrefix(method, "initialized") && !strings.HasPrefix(method, "textDocument/did") &&
			method != "exit" {
			id++
			body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s`, id, strings.TrimPrefix(body, `{"jsonrpc":"2.0",`))
		}
		fmt.Fprintf(&all, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	document := fmt.Sprintf(`"textDocument":{"uri":"file://%s"}`, filepath.ToSlash(path))
	send("initialize", `{"capabilities":{}}`)
	send("initialized", `{}`)
	send("textDocument/didOpen", fmt.Sprintf(
		`{"textDocument":{"uri":"file://%s","languageId":"yaml","version":1,"text":%q}}`,
		filepath.ToSlash(path), program))
	for _, method := range []string{"documentSymbol", "codeLens", "diagnostic"} {
		send("textDocument/"+method, "{"+document+"}")
	}
	lines := strings.Split(program, "\n")
	whole := fmt.Sprintf(`"range":{"start":{"line":0,"character":0},"end":{"line":%d,"character":0}}`, len(lines)-1)
	send("textDocument/inlayHint", "{"+document+","+whole+"}")
	send("textDocument/codeAction", "{"+document+","+whole+`,"context":{"diagnostics":[]}}`)
	for n, line := range lines {
		for c := 2; c < len(line); c += 9 {
			position := fmt.Sprintf(`{%s,"position":{"line":%d,"character":%d}}`, document, n, c)
			for _, method := range []string{"hover", "completion", "definition", "signatureHelp"} {
				send("textDocument/"+method, position)
			}
		}
	}
	send("shutdown", "null")
	send("exit", "null")
	return all.String()
}

// everyCommandHasLines fails for each command, and each form of the output of a command, that has no line.
func everyCommandHasLines(t *testing.T, lines []canaryLine, without map[string]string) {
	root := newRoot(&console.Console{}, &profile{})
	used := map[string]bool{} // commands, and commands with a flag
	for _, line := range lines {
		for _, args := range line.commands {
			cmd, rest, err := root.Find(args)
			require.NoError(t, err, line.text)
			path := strings.TrimPrefix(cmd.CommandPath(), "yamlhost ")
			used[path] = true
			for _, arg := range rest {
				used[path+" "+strings.SplitN(arg, "=", 2)[0]] = true
			}
			used[path+" --out"] = used[path+" --out"] || used[path+" --every-out"]
		}
	}
	everyCommand(func(cmd *cobra.Command, path string) {
		reason, is := without[path]
		switch delete(without, path); {
		case is:
			require.NotEmpty(t, reason, path)
			require.False(t, used[path], "%s has a line and a reason for none", path)
		case !cmd.Runnable() || path == "" || path == "help":
		case !used[path]:
			t.Errorf("%s has no line in the table", path)
		default:
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if slices.Contains(canaryForms, f.Name) && !f.Hidden && !used[path+" --"+f.Name] {
					t.Errorf("%s has no line with --%s", path, f.Name)
				}
			})
		}
	})
	require.Empty(t, without, "there are no such commands")
}

// canaryLines reads the table: command lines, joined by &&, behind words that end with a colon.
func canaryLines(t *testing.T, table string) (lines []canaryLine) {
	t.Helper()
	for text := range strings.Lines(table) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		line := canaryLine{text: text}
		for {
			word, rest, _ := strings.Cut(text, " ")
			name, marked := strings.CutSuffix(word, ":")
			if !marked {
				break
			}
			switch text = rest; name {
			case "fails":
				line.fails = true
			case "shows":
				line.shows = true
			case "pending":
				line.pending = true
			default:
				line.program = name
			}
		}
		for command := range strings.SplitSeq(text, " && ") {
			line.commands = append(line.commands, strings.Fields(command))
		}
		lines = append(lines, line)
	}
	return lines
}

// canaryTexts returns secrets as plain text, in hexadecimal, and in base64 at each of the three alignments.
func canaryTexts(secrets ...string) (list []string) {
	for _, s := range secrets {
		list = append(list, s, hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s))))
		for i := range 3 { // without the characters that depend on what is around
			text := base64.RawStdEncoding.EncodeToString([]byte("---"[:i] + s))
			list = append(list, text[[]int{0, 2, 3}[i]:len(text)-1])
		}
	}
	return list
}

func findCanary(t *testing.T, canaries []string, where, text string) {
	t.Helper()
	for _, canary := range canaries {
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("%s: …%s…", where, text[max(0, i-160):min(len(text), i+80)])
		}
	}
}
