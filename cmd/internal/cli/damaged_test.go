package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// keptProgram is the last program of the stacks whose files are damaged.
const keptProgram = `name: two
runtime: yaml
config:
  word: {type: string, secret: true}
resources:
  first: {type: drawer:Item, properties: {title: "a ${word}", kind: k}}
  second: {type: drawer:Item, properties: {title: "after ${first.tag}", kind: k2}}
  third: {type: drawer:Item, properties: {title: c, kind: k}}
  fourth: {type: drawer:Item, properties: {title: "${third.tag}", kind: k}}
  pet: {type: random:RandomPet}
`

// keptTerminal returns a terminal with the folders in dir, as newTerminalIn lays them out, and a drawer beside them.
func keptTerminal(dir string, pid int, keys *secrets.Keyring) (*terminal, *drawer.Provider) {
	d := &drawer.Provider{Dir: filepath.Join(dir, "drawer")}
	x := &terminal{}
	x.streams = console.Streams{In: strings.NewReader(""), Out: &x.out, Err: &x.err}
	x.world = console.World{Version: "0.1.0", Dir: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"),
		Env: []string{"NO_COLOR=1", "PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_HOME=" + filepath.Join(dir, "home", ".pulumi")},
		Process: func() backend.Process {
			return backend.Process{PID: pid, User: "u", Host: "h", Machine: "m",
				Alive: func(other int, _ string) bool { return other == pid }}
		},
		Embedded: []console.EmbeddedProviders{drawers{d}}, Keys: keys}
	return x, d
}

// keptTrees returns folders with everything that yamlhost keeps: of a stack at rest, and of runs that were cut off at
// several moments.
func keptTrees(t *testing.T, keys *secrets.Keyring) (trees []string) {
	t.Helper()
	dir := t.TempDir()
	rest := filepath.Join(dir, "rest")
	for _, sub := range []string{"home", "state", "project", "drawer"} {
		require.NoError(t, os.MkdirAll(filepath.Join(rest, sub), 0o755))
	}
	x, d := keptTerminal(rest, 7, keys)
	program := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(rest, "project", "Pulumi.yaml"), []byte(text), 0o600))
	}
	run := func(args ...string) {
		t.Helper()
		require.Equal(t, 0, x.run(args...), "%v: %s%s", args, x.out.String(), x.err.String())
	}
	program("runtime: yaml\n" + twoItems)
	run("login", "file://"+filepath.ToSlash(filepath.Join(rest, "state")))
	run("stack", "init", "dev")
	run("config", "set", "--secret", "word", "hush")
	run("stack", "tag", "set", "team", "blue")
	run("up", "--yes")
	trees = append(trees, rest)
	program(strings.ReplaceAll(keptProgram, "k2", "k"))
	run("up", "--yes")
	program(keptProgram)
	n := 0
	d.Reached = func(moment, name string) {
		if n++; n%2 == 1 {
			tree := filepath.Join(dir, fmt.Sprint("cut", n))
			require.NoError(t, os.CopyFS(tree, os.DirFS(rest)))
			trees = append(trees, tree)
		}
	}
	run("up", "--yes", "--parallel", "2")
	d.Reached = nil
	return trees
}

// keptFiles returns the files below a tree that yamlhost keeps, relative to it.
func keptFiles(t require.TestingT, tree string) (files []string) {
	require.NoError(t, fs.WalkDir(os.DirFS(tree), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(path, "drawer/") && !strings.HasPrefix(path, "project/Pulumi") {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// typeNames matches the types of a state.
var typeNames = regexp.MustCompile(`"type":"([^"]+)"`)

// damages are the ways in which a file is damaged. Each returns the new content; others are the files of the tree.
var damages = map[string]func(t *rapid.T, text []byte, other func() []byte) []byte{
	"flips": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		for range rapid.IntRange(1, 4).Draw(t, "flips") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		return text
	},
	"a type": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		places := typeNames.FindAllSubmatchIndex(text, -1)
		if len(places) == 0 {
			return text
		}
		place := rapid.SampledFrom(places).Draw(t, "type")
		text[rapid.IntRange(place[2], place[3]-1).Draw(t, "byte")] = rapid.SampledFrom([]byte("X:/0 ")).Draw(t, "character")
		return text
	},
	"end": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		return text[:rapid.IntRange(0, len(text)-1).Draw(t, "length")]
	},
	"beginning": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		return text[rapid.IntRange(1, len(text)).Draw(t, "from"):]
	},
	"middle": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		from, to := part(t, text)
		return append(text[:from:from], text[to:]...)
	},
	"zeros": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		from, to := part(t, text)
		clear(text[from:to])
		return text
	},
	"zeros to the end": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		clear(text[rapid.IntRange(0, len(text)-1).Draw(t, "from"):])
		return text
	},
	"doubled": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		from, to := part(t, text)
		return append(text[:to:to], text[from:]...)
	},
	"swapped": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		from, to := part(t, text)
		size := to - from
		at := rapid.IntRange(0, len(text)-size).Draw(t, "with")
		kept := bytes.Clone(text[from:to])
		copy(text[from:to], text[at:at+size])
		copy(text[at:], kept)
		return text
	},
	"version": func(t *rapid.T, text []byte, _ func() []byte) []byte {
		next := fmt.Sprintf(`"version":%d`, rapid.SampledFrom([]int{0, 2, 4, 99}).Draw(t, "version"))
		if changed := versionMember.ReplaceAll(text, []byte(next)); !bytes.Equal(changed, text) {
			return changed
		}
		text[min(7, len(text)-1)]++
		return text
	},
	"other": func(_ *rapid.T, _ []byte, other func() []byte) []byte { return other() },
	"garbage": func(t *rapid.T, _ []byte, _ func() []byte) []byte {
		return rapid.SliceOf(rapid.Byte()).Draw(t, "garbage")
	},
	"another shape": func(t *rapid.T, _ []byte, _ func() []byte) []byte {
		return []byte(rapid.SampledFrom([]string{"", "{}", "[]", "null", "5", `""`, "{", `{"version":1}`, `{"version":3}`,
			`{"version":3,"checkpoint":{}}`, `{"version":3,"checkpoint":{"latest":{"resources":[{}]}}}`}).Draw(t, "text"))
	},
}

var versionMember = regexp.MustCompile(`"version": ?\d+`)

func part(t *rapid.T, text []byte) (from, to int) {
	from = rapid.IntRange(0, len(text)-1).Draw(t, "from")
	return from, rapid.IntRange(from+1, len(text)).Draw(t, "to")
}

// damagedStack is a stack with a damaged file.
type damagedStack struct {
	*terminal
	t       rapid.TB
	dir     string
	damaged string // the path of the file below dir
	said    strings.Builder
}

// do runs a command. It fails the test if the command crashes, or ends with an error that is not one.
func (s *damagedStack) do(args ...string) (code int, said string) {
	code = s.run(args...)
	said = s.out.String() + s.err.String()
	fmt.Fprintf(&s.said, "> %s: %d\n%s\n", strings.Join(args, " "), code, said)
	if code == console.CodeInternal || strings.Contains(said, "goroutine ") {
		s.t.Fatalf("%s crashes:\n%s", s.damaged, s.said.String())
	}
	if code != 0 && strings.Count("\n"+said, "\nerror: ") > 1 {
		s.t.Fatalf("%s: more than one error:\n%s", s.damaged, s.said.String())
	}
	for _, named := range damagedFile.FindAllStringSubmatch(said, -1) {
		if filepath.Base(named[1]) != filepath.Base(s.damaged) {
			s.t.Fatalf("%s is said to be damaged instead of %s:\n%s", named[1], s.damaged, said)
		}
	}
	return code, said
}

var damagedFile = regexp.MustCompile(`the file (\S+) is damaged`)

func (s *damagedStack) state() *state.Snapshot {
	b, err := backend.Open("file://"+filepath.ToSlash(filepath.Join(s.dir, "state")), backend.Options{Version: "test"})
	require.NoError(s.t, err)
	loaded, err := b.Load(context.Background(), backend.Ref{Project: "two", Stack: "dev"}, nil)
	require.NoError(s.t, err, s.said.String())
	return loaded.Snapshot
}

// unknown returns the objects that a state does not have, IDs by URN.
func (s *damagedStack) unknown(snapshot *state.Snapshot) map[string]string {
	known := map[string]bool{}
	for _, r := range snapshot.Resources {
		known[r.ID] = true
	}
	objects, err := drawer.Objects(filepath.Join(s.dir, "drawer"))
	require.NoError(s.t, err)
	unknown := map[string]string{}
	for _, o := range objects {
		if !known[o.ID] {
			unknown[o.URN] = o.ID
		}
	}
	return unknown
}

// waysOut are the ways out that errors name, in the order in which they are looked for.
var waysOut = []struct {
	words  string
	follow func(s *damagedStack)
}{
	{"--settle-pending", func(s *damagedStack) {
		args := []string{"up", "--yes", "--skip-preview"}
		snapshot := s.state()
		made := s.unknown(snapshot)
		for _, op := range snapshot.Pending {
			if op.Kind == state.Creating {
				args = append(args, "--settle-pending", string(op.Resource.URN)+"="+made[string(op.Resource.URN)])
			}
		}
		s.do(args...)
	}},
	{"--accept-loss", func(s *damagedStack) {
		code, said := s.do("refresh", "--yes", "--skip-preview")
		if code != 0 && strings.Contains(said, "state repair --previous") { // the name of a type is damaged
			s.do("state", "repair", "--previous", "--yes")
		}
	}},
	{"state repair --previous", func(s *damagedStack) { s.do("state", "repair", "--previous", "--yes") }},
	{"yamlhost state repair", func(s *damagedStack) {
		if code, said := s.do("state", "repair", "--yes"); code != 0 && strings.Contains(said, "repair --previous") {
			s.do("state", "repair", "--previous", "--yes")
		}
	}},
	{"with 'cancel'", func(s *damagedStack) { s.do("cancel", "--yes") }},
	{"yamlhost state upgrade", func(s *damagedStack) { s.do("state", "upgrade", "--yes") }},
	{"write the line", func(s *damagedStack) { s.replace("version: 1\n") }},
	{"away", func(s *damagedStack) { s.replace("") }},
	{"login", (*damagedStack).login},
	{"no stack selected", (*damagedStack).login},
	{"no stack named", (*damagedStack).login},
	{"stack select", func(s *damagedStack) { s.do("stack", "select", "dev") }},
}

func (s *damagedStack) login() {
	s.do("login", "file://"+filepath.ToSlash(filepath.Join(s.dir, "state")))
	s.do("stack", "select", "dev")
}

// replace gives the damaged file another content, or moves it away if that is empty.
func (s *damagedStack) replace(text string) {
	path := filepath.Join(s.dir, s.damaged)
	require.NoError(s.t, os.Rename(path, filepath.Join(s.dir, "away")))
	if text != "" {
		require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
	}
	if strings.HasPrefix(s.damaged, "home/") {
		s.login()
	}
}

// followUntil repeats a command, and follows the ways out that its errors name, until it succeeds.
func (s *damagedStack) followUntil(args ...string) {
	for range 8 {
		code, said := s.do(args...)
		if code == 0 {
			return
		}
		i := slices.IndexFunc(waysOut, func(way struct {
			words  string
			follow func(s *damagedStack)
		}) bool {
			return strings.Contains(said, way.words)
		})
		if i < 0 {
			s.t.Fatalf("%s: no way out is named:\n%s", s.damaged, s.said.String())
		}
		waysOut[i].follow(s)
	}
	s.t.Fatalf("%s: the ways out lead nowhere:\n%s", s.damaged, s.said.String())
}

// told reports whether any command has said that something may be missing.
func (s *damagedStack) told() bool {
	return slices.ContainsFunc([]string{"it is not known", operation.AlteredText, "lacks later changes",
		"was not written completely"}, func(words string) bool { return strings.Contains(s.said.String(), words) })
}

// Whatever file that yamlhost keeps is damaged in whatever way: each command works, or ends with an error that names the
// file and a way out; the way out leads to a state with which commands work; no object is lost or made twice silently.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	keys := &secrets.Keyring{}
	trees := keptTrees(t, keys)
	commands := [][]string{{"preview"}, {"up", "--yes"}, {"stack"}, {"stack", "history"}, {"stack", "ls"},
		{"stack", "tag", "ls"},
		{"config"}, {"whoami"}, {"state", "verify"}, {"stack", "export"}, {"stack", "tag", "set", "a", "b"},
		{"refresh", "--yes", "--skip-preview"}}
	damage := func(draw *rapid.T, t rapid.TB) {
		dir, err := os.MkdirTemp("", "damaged-")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		require.NoError(t, os.CopyFS(dir, os.DirFS(rapid.SampledFrom(trees).Draw(draw, "tree"))))
		x, _ := keptTerminal(dir, 8, keys)
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "home"))) // its files have the folder in them
		s := &damagedStack{terminal: x, t: t, dir: dir}
		s.login()
		objects := s.unknown(&state.Snapshot{})

		files := keptFiles(t, dir)
		s.damaged = rapid.SampledFrom(files).Draw(draw, "file")
		path := filepath.Join(dir, s.damaged)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if len(text) == 0 {
			return
		}
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(damages))).Draw(draw, "damage")
		text = damages[name](draw, text, func() []byte {
			// An older copy of the state in place of the state is sound.
			others := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
				return strings.HasSuffix(s.damaged, "/dev.json") && (strings.Contains(file, "checkpoint") ||
					strings.Contains(file, "backups/") || strings.HasSuffix(file, ".bak"))
			})
			other, err := os.ReadFile(filepath.Join(dir, rapid.SampledFrom(others).Draw(draw, "other")))
			require.NoError(t, err)
			return other
		})
		if strings.HasSuffix(s.damaged, "/dev.json") && bytes.Contains(text, []byte(`"checkpoint"`)) &&
			!bytes.Contains(text, []byte(`:"crc32c:`)) {
			return // as another program writes it
		}
		require.NoError(t, os.WriteFile(path, text, 0o600))
		for range rapid.IntRange(0, 2).Draw(draw, "commands") {
			s.followUntil(rapid.SampledFrom(commands).Draw(draw, "command")...)
		}
		s.followUntil("up", "--yes", "--skip-preview")
		s.followUntil("state", "verify")

		snapshot := s.state()
		unknown := s.unknown(snapshot)
		if len(unknown) > 0 && !s.told() {
			t.Fatalf("%s, %s: nothing was said of %v; there were %v:\n%s", s.damaged, name, unknown, objects, s.said.String())
		}
		there := s.unknown(&state.Snapshot{})
		for _, r := range snapshot.Resources {
			if r.Custom && r.Type == "drawer:index:Item" && there[string(r.URN)] == "" {
				t.Fatalf("%s, %s: %s is in the state and does not exist:\n%s", s.damaged, name, r.URN, s.said.String())
			}
		}
	}
	if *allWalls {
		rapid.Check(t, func(draw *rapid.T) { damage(draw, draw) })
		return
	}
	// The same ones each time: damage of a kind that has no way out yet is looked for with -walls.
	for seed := range 100 {
		rapid.Custom(func(draw *rapid.T) int { damage(draw, t); return 0 }).Example(seed)
	}
}
