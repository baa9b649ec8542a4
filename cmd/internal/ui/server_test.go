package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/runlog"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

const (
	canary     = "canary-7f3a-swordfish"
	passphrase = "correct horse"
	hostile    = `<img src=x onerror=alert(1)>"'` + "\u2028</script>"
)

var shop = backend.Ref{Project: "shop", Stack: "dev"}

func named(typ, name string) urn.URN { return urn.New("dev", "shop", "", typ, name) }

// fixture is a server for a backend with the stack shop/dev, whose states the tests commit.
type fixture struct {
	*Server
	t       *testing.T
	backend *backend.Backend
	dir     string
	runs    string
}

func resource(typ, name string, inputs, outputs value.Value, needs ...urn.URN) *state.Resource {
	r := &state.Resource{URN: named(typ, name), Type: typ, Custom: true, ID: name + "-id", Inputs: inputs, Outputs: outputs,
		Parent: named(urn.RootStackType, "shop-dev"), Dependencies: needs}
	if len(needs) > 0 {
		r.PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"of": needs})
	}
	return r
}

func text(pairs ...string) value.Value {
	m := map[string]value.Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = value.String(pairs[i+1])
	}
	return value.Map(m)
}

func root() *state.Resource {
	return &state.Resource{URN: named(urn.RootStackType, "shop-dev"), Type: urn.RootStackType, Inputs: value.EmptyMap(),
		Outputs: value.EmptyMap()}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), runs: filepath.Join(t.TempDir(), "runs")}
	require.NoError(t, os.MkdirAll(f.runs, 0o700))
	folder := t.TempDir()
	b, err := backend.Open("file://"+filepath.ToSlash(folder), backend.Options{WorkDir: folder, Version: "test"})
	require.NoError(t, err)
	f.backend = b
	require.NoError(t, b.Create(t.Context(), shop, nil))
	f.Server = New(Options{Backend: b, Version: "test", Project: "shop", Dir: f.dir, Runs: f.runs,
		Process: backend.Process{PID: 1, Host: "here", Alive: func(int, string) bool { return false }},
		Manager: func(p state.SecretsProvider, given string) (secrets.Manager, error) {
			return secrets.Open(p.Type, p.State, secrets.Options{
				Passphrase: func(secrets.Purpose) (string, error) { return given, nil }})
		}}, "127.0.0.1:1234")
	return f
}

// commit records an update of the stack that ends with the given resources.
func (f *fixture) commit(m secrets.Manager, message string, changes map[string]int, resources ...*state.Resource) {
	f.t.Helper()
	session, err := f.backend.Begin(f.t.Context(), shop, backend.BeginOptions{Command: "update", Secrets: m})
	require.NoError(f.t, err)
	require.NoError(f.t, session.Commit(f.t.Context(), &state.Snapshot{Resources: append([]*state.Resource{root()}, resources...)},
		&backend.Record{Kind: "update", Result: "succeeded", Message: message, StartTime: 100, EndTime: 160,
			ResourceChanges: changes, Environment: map[string]string{"git.author": "Ann"}}))
}

// ask sends a request as the page does and returns the status and the body of the answer. It decodes the body into out
// unless out is nil.
func (f *fixture) ask(method, path string, body, out any) (int, string) {
	f.t.Helper()
	var in bytes.Buffer
	if body != nil {
		require.NoError(f.t, json.NewEncoder(&in).Encode(body))
	}
	r := httptest.NewRequest(method, "http://127.0.0.1:1234"+path, &in)
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if out != nil {
		require.Equal(f.t, http.StatusOK, w.Code, w.Body.String())
		require.NoError(f.t, json.Unmarshal(w.Body.Bytes(), out))
	}
	return w.Code, w.Body.String()
}

func (f *fixture) get(path string, out any, parameters ...string) (int, string) {
	f.t.Helper()
	q := url.Values{"stack": {"shop/dev"}}
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	return f.ask("GET", "/api/"+path+"?"+q.Encode(), nil, out)
}

// The server answers only requests of its own page: with its address as the host, so that DNS rebinding fails, without
// another origin or site, and with the token.
func TestGuard(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, c := range map[string]struct {
		method, path string
		change       func(*http.Request)
		want         int
	}{
		"the page":              {"GET", "/", func(r *http.Request) { r.Header.Del("Authorization") }, 200},
		"its script":            {"GET", "/app.js", func(*http.Request) {}, 200},
		"an answer":             {"GET", "/api/overview", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1234") }, 200},
		"no such page":          {"GET", "/server.go", func(*http.Request) {}, 404},
		"rebinding":             {"GET", "/api/overview", func(r *http.Request) { r.Host = "evil.example:1234" }, 421},
		"rebinding of the page": {"GET", "/", func(r *http.Request) { r.Host = "evil.example:1234" }, 421},
		"another port":          {"GET", "/api/overview", func(r *http.Request) { r.Host = "127.0.0.1:80" }, 421},
		"another origin":        {"GET", "/api/overview", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"no origin":             {"GET", "/api/overview", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"another site":          {"GET", "/api/overview", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"another port's page":   {"GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"no token":              {"GET", "/api/overview", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a wrong token":         {"GET", "/api/overview", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		"the token in the URL":  {"GET", "/api/overview?token=" + f.token, func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a form":                {"POST", "/api/preview", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"a change":              {"DELETE", "/api/stack?stack=shop/dev", func(*http.Request) {}, 405},
		"no preview here":       {"POST", "/api/preview", func(*http.Request) {}, 409},
		"a wrong code":          {"POST", "/api/enter", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "http://127.0.0.1:1234"+c.path, strings.NewReader(`{"Stack":"shop/dev","once":"x"}`))
			r.Header.Set("Authorization", "Bearer "+f.token)
			r.Header.Set("Content-Type", "application/json")
			c.change(r)
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			require.Equal(t, c.want, w.Code, w.Body.String())
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
			require.NotContains(t, w.Header().Get("Content-Security-Policy"), "unsafe")
			require.NotContains(t, w.Body.String(), f.token)
			require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
		})
	}
	require.Contains(t, f.URL(), "http://127.0.0.1:1234/#token=")
	code := strings.TrimPrefix(f.OnceURL(), "http://127.0.0.1:1234/#once=")
	var given struct{ Token string }
	f.ask("POST", "/api/enter", map[string]string{"once": code}, &given)
	require.Equal(t, f.token, given.Token)
	status, _ := f.ask("POST", "/api/enter", map[string]string{"once": code}, nil)
	require.Equal(t, 401, status, "the code can be used once")
}

func TestListenIsOfThisMachine(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "8080"} {
		_, err := Listen(address)
		require.Error(t, err, address)
	}
	l, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	f := newFixture(t)
	done := make(chan error)
	s := New(f.o, l.Addr().String())
	go func() { done <- s.Serve(ctx, l) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 200, answer.StatusCode)
	stop()
	require.NoError(t, <-done)
}

// withSecrets returns a fixture with secrets in inputs, outputs, history and program.
func withSecrets(t *testing.T) *fixture {
	f := newFixture(t)
	m, err := secrets.NewPassphrase(nil, passphrase)
	require.NoError(t, err)
	secret := value.Map(map[string]value.Value{"open": value.String("plain"), "list": value.List(value.String(canary).Secret())})
	box := resource("drawer:index:Box", hostile, secret, value.MapOf(value.Entry{Key: "tag", Value: value.String(canary + "2").Secret()}))
	box.SourcePosition = "project:///Pulumi.yaml#4,3"
	f.commit(m, "first", map[string]int{"create": 1}, box)
	other := *box
	other.Inputs = secret.With("open", value.String("changed")).With("list", value.List(value.String(canary+"3").Secret()))
	f.commit(m, "second", map[string]int{"update": 1}, &other)
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "Pulumi.yaml"), []byte("name: shop\nruntime: yaml\nresources:\n"+
		"  box:\n    type: drawer:Box\n    name: "+strconv.Quote(hostile)+
		"\n    properties:\n      password:\n        fn::secret: "+canary+"4\n  lid: {type: drawer:Lid}\n"), 0o600))
	return f
}

// No answer contains a secret, except to a request that names the secret and has the passphrase.
func TestCanary(t *testing.T) {
	t.Parallel()
	f := withSecrets(t)
	u := string(named("drawer:index:Box", hostile))
	var all strings.Builder
	var history []operation
	f.get("history", &history)
	require.Len(t, history, 2)
	require.Equal(t, "Ann", history[0].Who)
	for _, path := range []string{"overview", "revision", "stack", "resource", "changes", "history", "search", "runs", "critical"} {
		status, body := f.get(path, nil, "urn", u, "q", "plain", "from", history[1].Stamp)
		require.Equal(t, 200, status, body)
		all.WriteString(body)
	}
	for _, q := range []string{canary, "swordfish", "secret"} {
		_, body := f.get("search", nil, "q", q)
		all.WriteString(strings.ReplaceAll(body, q, ""))
	}
	_, body := f.get("diff", nil, "from", history[1].Stamp, "to", "0")
	require.Contains(t, body, `"old":"[secret]","new":"[secret]"`, "the fact that a secret has changed is shown")
	all.WriteString(body)
	_, body = f.ask("POST", "/api/graph", graphRequest{Stack: "shop/dev"}, nil)
	all.WriteString(body)
	require.NotContains(t, all.String(), "canary")
	require.NotContains(t, all.String(), "swordfish")
	require.NotContains(t, all.String(), "v1:", "no ciphertext either")

	var d detail
	f.get("resource", &d, "urn", u)
	require.NotNil(t, d.Source)
	require.Equal(t, "        fn::secret: "+strings.Repeat("*", len(canary)+1), d.Source.Lines[5])
	require.Len(t, d.Source.Lines, 6, "without lines of the next resource")
	require.JSONEq(t, `{"list":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}],`+
		`"open":"changed"}`, string(d.Inputs))

	req := revealRequest{Stack: "shop/dev", URN: u, Part: "inputs", Path: []any{"list", 0}, Passphrase: "wrong"}
	status, body := f.ask("POST", "/api/reveal", req, nil)
	require.Equal(t, 403, status)
	require.NotContains(t, body, "swordfish")
	req.Passphrase = passphrase
	_, body = f.ask("POST", "/api/reveal", req, nil)
	require.JSONEq(t, `{"value":"`+canary+`3"}`, body)
	req.Path = []any{"open"}
	status, _ = f.ask("POST", "/api/reveal", req, nil)
	require.Equal(t, 400, status, "a plain value is not revealed")
}

// Source positions open no file outside of the project, even one that declares the resource in the line that they name.
func TestExcerptsStayInTheProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const text = "resources:\n  box:\n    type: drawer:index:Box\n    properties: {text: inner}\n"
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.yaml")
	beside := f.dir + "-beside.yaml"
	require.NoError(t, os.WriteFile(elsewhere, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(beside, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "Main.yaml"), []byte(text), 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(f.dir, "link.yaml")))
	require.NoError(t, os.Symlink(filepath.Dir(elsewhere), filepath.Join(f.dir, "folder")))
	excerptAt := func(position string) *excerpt {
		return f.excerpt(t.Context(), &state.Resource{URN: named("drawer:index:Box", "box"), SourcePosition: position})
	}
	require.NotNil(t, excerptAt("project:///Main.yaml#2,3"), "the same text, in the project")
	for _, position := range []string{"", "project:///link.yaml#2,3", "project:///folder/elsewhere.yaml#2,3",
		"project:///../" + filepath.Base(beside) + "#2,3", "project:///" + filepath.ToSlash(elsewhere) + "#2,3",
		"file://" + filepath.ToSlash(elsewhere) + "#2,3", "project:////etc/passwd#1,1", "project:///.#1,1",
		"project:///Main.yaml#x"} {
		require.Nil(t, excerptAt(position), position)
	}
}

// For hostile states and requests, answers are bounded and have no raw HTML.
func TestHostileStates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := resource("a:b:C", "long", text("text", strings.Repeat("x", 3<<20)), text())
	wide := map[string]value.Value{}
	for i := range 40_000 {
		wide[fmt.Sprintf("key%d", i)] = value.String(strings.Repeat("y", 100))
	}
	large := resource("a:b:C", "large", value.Map(wide), text())
	f.commit(nil, hostile, nil, long, large, resource(hostile, hostile, text(hostile, hostile), text()))
	for _, name := range []string{"long", "large"} {
		_, body := f.get("resource", nil, "urn", string(named("a:b:C", name)))
		require.Less(t, len(body), 20_000, name)
		require.Contains(t, body, "bytes")
	}
	for _, path := range []string{"stack", "history", "search"} {
		status, body := f.get(path, nil, "q", "onerror")
		require.Equal(t, 200, status)
		require.NotContains(t, body, "<")
		require.NotContains(t, body, "\u2028")
	}
	for _, path := range []string{"stack?stack=..%2F..", "stack?stack=shop", "run?id=../../etc/passwd", "diff?stack=shop/dev&from=x",
		"resource?stack=shop/dev&urn=no", "stack?stack=no/such"} {
		status, body := f.ask("GET", "/api/"+path, nil, nil)
		require.True(t, status == 400 || status == 404 || status == 500 || strings.HasPrefix(path, "diff"), "%s: %d %s", path, status, body)
	}
}

// The console has the result and the duration of an operation as its own report had them.
func TestEndOfOperation(t *testing.T) {
	t.Parallel()
	record := backend.Record{Result: "failed", StartTime: 5, EndTime: 9,
		Own: change.Kept{Interrupted: true, Took: 3214}.Encode()}
	got := operationOf(backend.Entry{Record: record})
	require.Equal(t, []any{"interrupted", int64(3214)}, []any{got.Result, got.Took})
	record.Own = nil
	got = operationOf(backend.Entry{Record: record})
	require.Equal(t, []any{"failed", int64(0)}, []any{got.Result, got.Took})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := resource("x:y:Z", "a", text("k", "1"), text("k", "1", "out", "o")), resource("x:y:Z", "b", text(), text())
	f.commit(nil, "one", map[string]int{"create": 1}, a)
	f.commit(nil, "nothing", map[string]int{"same": 1}, a)
	changed := *a
	changed.Inputs, changed.Outputs, changed.Protect = text("k", "2"), text("k", "2", "out", "o"), true
	f.commit(nil, "two", map[string]int{"update": 1, "create": 1}, &changed, b)
	f.commit(nil, "three", map[string]int{"delete": 1}, b)
	var list []operation
	f.get("history", &list)
	require.Equal(t, []string{"three", "two", "nothing", "one"}, []string{list[0].Message, list[1].Message, list[2].Message, list[3].Message})
	f.get("history", &list, "limit", "2")
	require.Len(t, list, 2)

	var past resourcePast
	f.get("changes", &past, "urn", string(a.URN))
	require.Len(t, past.Operations, 3)
	require.Equal(t, []string{"removed", "changed", "added"},
		[]string{past.Operations[0].What, past.Operations[1].What, past.Operations[2].What})
	require.Equal(t, []difference{{"inputs.k", "", json.RawMessage(`"1"`), json.RawMessage(`"2"`)},
		{"options.protect", "", nil, json.RawMessage(`"true"`)}}, past.Operations[1].Changes)
	require.Equal(t, "two", past.Operations[1].Message)

	require.False(t, past.More)

	f.get("history", &list)
	var d stateDiff
	f.get("diff", &d, "from", list[3].Stamp, "to", list[1].Stamp)
	require.Equal(t, 1, d.Same, "the stack")
	require.Equal(t, []string{"changed", "added"}, []string{d.Resources[0].What, d.Resources[1].What})
	d = stateDiff{}
	f.get("diff", &d, "from", list[1].Stamp, "to", "0")
	require.Equal(t, []resourceDiff{{URN: string(a.URN), What: "removed"}}, d.Resources)

	var before, after struct{ Revision string }
	f.get("revision", &before)
	f.commit(nil, "four", nil, a, b)
	f.get("revision", &after)
	require.NotEqual(t, before.Revision, after.Revision, "the page learns that the stack has changed")
	var table table
	f.get("stack", &table)
	require.Len(t, table.Rows, 3)
	require.Equal(t, after.Revision, table.Revision)
}

// family returns a base resource, a component with children that all need the base, and a resource that needs the last
// child.
func family(children int) []*state.Resource {
	base := resource("x:y:Base", "base", text(), text())
	list := []*state.Resource{base, {URN: named("my:app:Comp", "comp"), Type: "my:app:Comp", Inputs: text(), Outputs: text(),
		Parent: named(urn.RootStackType, "shop-dev")}}
	for i := range children {
		r := resource("x:y:Leaf", fmt.Sprintf("leaf%d", i), text("region", "eu"), text(), base.URN)
		r.URN, r.Parent = urn.New("dev", "shop", list[1].URN, r.Type, r.URN.Name()), list[1].URN
		list = append(list, r)
	}
	last := resource("x:y:Last", "last", text(), text(), list[len(list)-1].URN)
	return append(list, last)
}

func TestGraphFolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit(nil, "", nil, family(6)...)
	drawn := func(req graphRequest) (boxes map[string]int, lines int) {
		req.Stack = "shop/dev"
		var g graphAnswer
		f.ask("POST", "/api/graph", req, &g)
		boxes = map[string]int{}
		for _, b := range g.Boxes {
			require.Positive(t, b.W*b.H)
			boxes[b.Kind+" "+b.Name] = len(b.Rows)
		}
		return boxes, len(g.Lines)
	}
	boxes, lines := drawn(graphRequest{})
	require.Len(t, boxes, 9)
	require.Contains(t, boxes, "frame comp")
	require.Positive(t, lines)
	boxes, lines = drawn(graphRequest{Components: true})
	require.Equal(t, map[string]int{"resource base": 1, "folded comp": 7, "resource last": 1}, boxes)
	require.Equal(t, 2, lines)
	boxes, _ = drawn(graphRequest{Types: true})
	require.Equal(t, map[string]int{"resource base": 1, "frame comp": 1, "folded x:y:Leaf": 6, "resource last": 1}, boxes)
	boxes, _ = drawn(graphRequest{Components: true, Open: []string{"r2"}})
	require.Len(t, boxes, 9, "the component is drawn open")
}

func TestWhatWouldBreak(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit(nil, "", nil, family(3)...)
	var d detail
	f.get("resource", &d, "urn", string(named("x:y:Base", "base")))
	require.Equal(t, 4, d.BreakCount, "three leaves, and the resource that needs one of them")
	require.Len(t, d.Needed, 3)
	require.Equal(t, []string{"of"}, d.Needed[0].Via)
	require.Empty(t, d.Needs)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit(nil, "", nil, family(3)...)
	for words, want := range map[string]int{"leaf": 3, "type:base": 1, "name:leaf1": 1, "region=eu": 3, "region=us": 0, "EU leaf2": 1,
		"stack:dev name:comp": 1, "stack:prod leaf": 0, "id:base-id": 1, "": 0} {
		var found hits
		f.get("search", &found, "q", words)
		require.Len(t, found.Hits, want, words)
	}
}

// The critical path is the chain of resources that waited for each other and took longest in the last recorded run.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	list := family(2)
	f.commit(nil, "", nil, list...)
	var none criticalPath
	f.get("critical", &none)
	require.Empty(t, none.Legs)
	require.NotEmpty(t, none.Why)
	lines := []any{runlog.Head{Where: runlog.Where(f.backend), Project: "shop", Stack: "dev", Command: "up", Began: time.Now(), Host: "here"}}
	for i, span := range [][2]int64{{0, 100}, {0, 0}, {100, 130}, {100, 300}, {300, 310}} {
		u := string(list[i].URN)
		lines = append(lines, runlog.Line{At: span[0], Kind: runlog.Start, URN: u, Op: "create"}, runlog.Line{At: span[1], Kind: runlog.Done, URN: u, Op: "create"})
	}
	lines = append(lines, runlog.Line{At: 310, Kind: runlog.End, Severity: "succeeded"})
	var out bytes.Buffer
	for _, l := range lines {
		require.NoError(t, json.NewEncoder(&out).Encode(l))
	}
	require.NoError(t, os.WriteFile(filepath.Join(f.runs, "17-1.jsonl"), out.Bytes(), 0o600))
	var path criticalPath
	f.get("critical", &path)
	require.Equal(t, int64(310), path.Took)
	require.Equal(t, []string{string(list[0].URN), string(list[3].URN), string(list[4].URN)},
		[]string{path.Legs[0].URN, path.Legs[1].URN, path.Legs[2].URN})
	var run struct {
		Run   liveRecord
		Lines []runlog.Line
		Next  int64
	}
	f.get("run", &run, "id", "17-1")
	require.Len(t, run.Lines, 11)
	require.False(t, run.Run.Running)
	f.get("run", &run, "id", "17-1", "from", fmt.Sprint(run.Next))
	require.Empty(t, run.Lines)
}

// Texts of a program that are values of secret properties are masked in the excerpt, whether the state or the schema says
// that they are secret; others are shown.
func TestExcerptHidesWhatIsSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "Pulumi.yaml"), []byte("name: shop\nruntime: yaml\nresources:\n"+
		"  db:\n    type: a:b:C\n    properties:\n      password: canary-1\n      nested: {keys: [canary-2]}\n"+
		"      token: canary-3\n      user: shown\n"), 0o600))
	db := resource("a:b:C", "db", value.MapOf(value.Entry{Key: "password", Value: value.String("canary-1").Secret()},
		value.Entry{Key: "token", Value: value.String("canary-3")}, value.Entry{Key: "user", Value: value.String("shown")}),
		value.MapOf(value.Entry{Key: "nested", Value: value.MapOf(value.Entry{Key: "keys",
			Value: value.List(value.String("canary-2").Secret())})}))
	db.AdditionalSecretOutputs, db.SourcePosition = []string{"token"}, "project:///Pulumi.yaml#4,3"
	lines := f.excerpt(t.Context(), db).Lines
	require.Contains(t, lines[0], "db:")
	require.NotContains(t, strings.Join(lines, "\n"), "canary")
	require.Contains(t, strings.Join(lines, "\n"), "user: shown")
}

// The past of a resource is what its states tell, however many of them are looked at, and in whatever order they are asked
// for: what was read once is not read again and stays the same.
func TestPastOfAResource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := newFixture(t)
		// What the resource is after each operation: empty if it is not there.
		life := rapid.SliceOfN(rapid.SampledFrom([]string{"", "1", "2", "3"}), 1, 8).Draw(r, "life")
		u := named("x:y:Z", "a")
		for i, v := range life {
			var there []*state.Resource
			if v != "" {
				there = append(there, resource("x:y:Z", "a", text("k", v), text("k", v)))
			}
			f.commit(nil, strconv.Itoa(i), map[string]int{"update": 1}, there...)
		}
		want := []string{} // newest first
		for i := len(life) - 1; i >= 0; i-- {
			before := ""
			if i > 0 {
				before = life[i-1]
			}
			switch {
			case before == life[i]:
			case before == "":
				want = append(want, fmt.Sprint(i, " added"))
			case life[i] == "":
				want = append(want, fmt.Sprint(i, " removed"))
			default:
				want = append(want, fmt.Sprint(i, " changed"))
			}
		}
		for _, looks := range rapid.SliceOfN(rapid.IntRange(1, 10), 1, 4).Draw(r, "looks") {
			var past resourcePast
			f.get("changes", &past, "urn", string(u), "looks", strconv.Itoa(looks))
			require.Equal(r, min(looks, len(life)), past.Looked)
			require.Equal(r, looks < len(life), past.More)
			got := []string{}
			for _, o := range past.Operations {
				got = append(got, o.Message+" "+o.What)
			}
			require.Equal(r, len(life), past.All)
			require.Equal(r, want[:len(got)], got)
			if !past.More {
				require.Equal(r, want, got)
			} else if past.Looked > 1 { // the operations between two states that were looked at
				for _, w := range want[len(got):] {
					n, err := strconv.Atoi(strings.Fields(w)[0])
					require.NoError(r, err)
					require.LessOrEqual(r, n, len(life)-past.Looked)
				}
			}
		}
	})
}

// The page has the configuration of the last operation, without its secrets.
func TestConfigurationOfAStack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	session, err := f.backend.Begin(t.Context(), shop, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	require.NoError(t, session.Commit(t.Context(), &state.Snapshot{Resources: []*state.Resource{root()}}, &backend.Record{
		Kind: "update", Result: "succeeded", Config: map[string]json.RawMessage{"shop:b": json.RawMessage(`"2"`),
			"shop:a": json.RawMessage(`{"x":[{"secure":"v1:cipher"}]}`)}}))
	_, body := f.get("config", nil)
	require.JSONEq(t, `[{"key":"shop:a","secret":true},{"key":"shop:b","value":"2"}]`, body)
}
