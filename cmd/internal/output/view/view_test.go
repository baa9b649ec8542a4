package view

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

func show(t *testing.T, o Options) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	o.Out, o.Err, o.Operation, o.Stack, o.Secrets, o.Root = &out, &errs, "Updating", "dev", []string{"hunter2"}, "/root"
	o.Source = func(path string) *diag.Source {
		require.Equal(t, "/root/Pulumi.yaml", path)
		return diag.NewSource("Pulumi.yaml",
			[]byte("name: p\nruntime: yaml\nresources:\n  cmd:\n    type: command:local:Command\n"))
	}
	v := New(o)
	for _, e := range viewtest.Events() {
		v.Event(e)
	}
	v.Close()
	require.NotContains(t, out.String()+errs.String(), "hunter2",
		"secret configuration is masked wherever it appears (L9.34)")
	if !o.ShowSecrets {
		require.NotContains(t, out.String()+errs.String(), "opensesame", "secret values are masked (F4.16)")
	}
	return out.String(), errs.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	testfile.Golden(t, os.Getenv("UPDATE_GOLDENS") != "", filepath.Join("testdata", name), got)
}

func TestPlain(t *testing.T) {
	out, errs := show(t, Options{})
	golden(t, "plain.txt", errs+"--- stdout\n"+out)
	require.Equal(t, 1, strings.Count(errs, "exit status 3"), "E8.32: one fault, one diagnostic")
	require.NotContains(t, errs, "on the way", "E8.33: what passes is not kept")
}

func TestPlainDiff(t *testing.T) {
	out, errs := show(t, Options{Detail: Detail{Diff: true, ShowSames: true}})
	golden(t, "diff.txt", errs+"--- stdout\n"+out)
}

func TestLiveEndsWithTheReport(t *testing.T) {
	out, errs := show(t, Options{Interactive: true, Width: 100, Height: 30})
	last := errs[strings.LastIndex(errs, "\x1b[J")+len("\x1b[J"):]
	golden(t, "live.txt", last+"--- stdout\n"+out)
}

func TestLeafChanges(t *testing.T) {
	m := func(entries ...value.Entry) value.Value { return value.MapOf(entries...) }
	e := func(k string, v value.Value) value.Entry { return value.Entry{Key: k, Value: v} }
	list := func(numbers ...int) value.Value {
		var items []value.Value
		for _, n := range numbers {
			items = append(items, value.Int(n))
		}
		return value.List(items...)
	}
	named := func(name string, v int) value.Value { return m(e("name", value.String(name)), e("v", value.Int(v))) }
	for name, c := range map[string]struct {
		old, new value.Value
		want     []string
	}{
		"nothing": {m(e("a", value.Int(1))), m(e("a", value.Int(1))), nil},
		"nested": {m(e("a", m(e("b", value.Int(1)), e("c", value.Int(1))))),
			m(e("a", m(e("b", value.Int(2)), e("c", value.Int(1))))), []string{"~ a.b: 1 => 2"}},
		"list": {m(e("a", value.List(value.Int(1)))), m(e("a", value.List(value.Int(1), value.Int(2)))),
			[]string{"+ a[1]: 2"}},
		"list, first gone": {m(e("a", value.List(value.Int(1), value.Int(2), value.Int(3)))),
			m(e("a", value.List(value.Int(2), value.Int(3)))), []string{"- a[0]: 1"}},
		"list, by name": {m(e("a", value.List(m(e("name", value.String("x")), e("v", value.Int(1))),
			m(e("name", value.String("y")), e("v", value.Int(1)))))),
			m(e("a", value.List(m(e("name", value.String("y")), e("v", value.Int(2)))))),
			[]string{`- a[0]: {name: "x", v: 1}`, "~ a[0].v: 1 => 2"}},
		"list, the last comes first": {m(e("a", list(1, 2, 3, 4))), m(e("a", list(4, 1, 2, 3))),
			[]string{"> a[0]: 4 (moved from a[3])"}},
		"list, turned round": {m(e("a", list(1, 2, 3))), m(e("a", list(3, 2, 1))),
			[]string{"> a[1]: 2 (moved from a[1])", "> a[2]: 1 (moved from a[0])"}},
		"list, moved and others": {m(e("a", list(1, 2, 3, 4))), m(e("a", list(9, 4, 1, 3))),
			[]string{"+ a[0]: 9", "> a[1]: 4 (moved from a[3])", "- a[1]: 2"}},
		"list, moved and changed": {m(e("a", value.List(named("x", 1), named("y", 1), named("z", 1)))),
			m(e("a", value.List(named("z", 2), named("x", 1), named("y", 1)))),
			[]string{"> a[0]: name=z (moved from a[2])", "~ a[0].v: 1 => 2"}},
		"list, values in their places": {m(e("a", list(1, 2, 3))), m(e("a", list(1, 5, 3))), []string{"~ a[1]: 2 => 5"}},
		"list, of secrets": {m(e("a", value.List(value.Int(1).Secret(), value.Int(2)))),
			m(e("a", value.List(value.Int(2), value.Int(1).Secret()))), []string{"> a[1]: [secret] (moved from a[0])"}},
		"json in text": {m(e("a", value.String(`{"port":80,"host":"h"}`))),
			m(e("a", value.String(`{"host": "h", "port": 8080}`))),
			[]string{"~ a (json):", "    ~ port: 80 => 8080"}},
		"yaml in text": {m(e("a", value.String("port: 80\nhost: h\n"))), m(e("a", value.String("port: 8080\nhost: h\n"))),
			[]string{"~ a (yaml):", "    ~ port: 80 => 8080"}},
		"lines of text": {m(e("a", value.String("#!/bin/sh\none\ntwo\nthree\nfour"))),
			m(e("a", value.String("#!/bin/sh\none\n2\nthree\nfour"))),
			[]string{"~ a:", "      #!/bin/sh", "      one", "    - two", "    + 2", "      three", "      four"}},
		"odd key":        {m(e("a.b", value.Int(1))), m(), []string{`- ["a.b"]: 1`}},
		"becomes secret": {m(e("a", value.Int(1))), m(e("a", value.Int(1).Secret())), []string{"~ a: 1 => [secret]"}},
		"secret changes": {m(e("a", value.Int(1).Secret())), m(e("a", value.Int(2).Secret())),
			[]string{"~ a: [secret] (changed)"}},
		"becomes unknown": {m(e("a", value.Int(1))), m(e("a", value.Unknown(value.KindNumber))),
			[]string{"~ a: 1 => (known after apply)"}},
		"other kind":    {m(e("a", value.Int(1))), m(e("a", value.List())), []string{"~ a: 1 => []"}},
		"internal keys": {m(), m(e("__internal", value.EmptyMap())), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			change.Between(c.old, c.new, func(l change.Property) {
				got = append(got, changeWriter{mask: mask.New()}.change(&l)...)
			})
			require.Equal(t, c.want, got)
		})
	}
}

// Notes and values are masked before they are cut, so that no beginning of a secret is shown.
func TestSecretsAreHiddenBeforeTextIsCut(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("hunter2-", 20)
	m := masker([]string{secret})
	require.Equal(t, `"[secret]"`, showValue(value.String(secret), false, m))
	var screen bytes.Buffer
	v := newLive(Options{Out: io.Discard, Err: io.Discard, Width: 100, Height: 10}, m, &screen)
	for _, e := range viewtest.Events()[:6] {
		v.Event(e)
	}
	v.Event(&engine.Message{URN: viewtest.CommandURN, Severity: diag.Info, Text: "\x1b[2Jnow " + secret, Ephemeral: true})
	v.mu.Lock()
	v.draw()
	v.mu.Unlock()
	v.Close()
	require.NotContains(t, screen.String(), "hunter2")
	require.Contains(t, screen.String(), `\x1b[2Jnow [secret]`)
}

// An output is unchanged if only Pulumi's host for YAML records it in another form.
func TestSameOutput(t *testing.T) {
	asset := value.NewAsset(&value.Asset{HasText: true, Text: "hello", Hash: "abc"})
	ref := func(u urn.URN, version string) value.Value {
		return value.Resource(&value.ResourceRef{URN: u, ID: value.String("i"), PackageVersion: version})
	}
	nested := func(v value.Value) value.Value { return value.List(value.MapOf(value.Entry{Key: "k", Value: v})) }
	for name, c := range map[string]struct {
		before, after value.Value
		same          bool
	}{
		"a version of a package":            {ref(viewtest.PetURN, ""), ref(viewtest.PetURN, "1.2.3"), true},
		"another resource":                  {ref(viewtest.PetURN, ""), ref(viewtest.CommandURN, ""), false},
		"an asset recorded as an empty map": {value.EmptyMap(), asset, true},
		"an archive recorded as an empty map": {nested(value.EmptyMap()),
			nested(value.NewArchive(&value.Archive{Path: "d", Hash: "abc"})), true},
		"a map that is an asset now":    {value.MapOf(value.Entry{Key: "k", Value: value.Int(1)}), asset, false},
		"an asset that is gone":         {asset, value.EmptyMap(), false},
		"an empty map that has changed": {value.EmptyMap(), value.Int(1), false},
		"a list that has grown":         {value.List(), value.List(asset), false},
	} {
		require.Equal(t, c.same, sameOutput(c.before, c.after), name)
	}
}

// A resource that a refresh did not find is shown as gone, also if the program creates it again: in a log on a line of
// its own, on a terminal after the status. Its unchanged properties are not shown.
func TestGoneIsTold(t *testing.T) {
	old := viewtest.Resource(viewtest.PetURN, value.MapOf(value.Entry{Key: "length", Value: value.Int(2)}))
	same := viewtest.Resource(viewtest.CommandURN, value.EmptyMap())
	gone := &engine.Step{Op: engine.OpRefresh, URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), Old: old}
	kept := &engine.Step{Op: engine.OpRefresh, URN: viewtest.CommandURN, Type: viewtest.CommandURN.Type(), Old: same, New: same}
	anew := &engine.Step{Op: engine.OpCreate, URN: viewtest.PetURN, Type: viewtest.PetURN.Type(), New: old}
	for name, c := range map[string]struct {
		interactive bool
		want        string
	}{"a log": {false, `-  pet +random:RandomPet +is gone\n.*\+  pet +random:RandomPet +create\n`},
		"a terminal": {true, `pet +random:RandomPet +create, as it was gone`}} {
		var out, errs bytes.Buffer
		v := New(Options{Out: &out, Err: &errs, Operation: "Previewing update", Stack: "dev", Interactive: c.interactive,
			Width: 100, Height: 30})
		for _, e := range []engine.Event{
			&engine.Prelude{}, &engine.StepStarted{Step: gone, Planning: true}, &engine.StepStarted{Step: kept, Planning: true},
			&engine.StepFinished{Step: gone, Op: engine.OpRefresh, Planning: true},
			&engine.StepFinished{Step: kept, Op: engine.OpRefresh, Planning: true},
			&engine.StepStarted{Step: anew, Planning: true}, &engine.StepFinished{Step: anew, Op: engine.OpCreate,
				Planning: true},
			&engine.Summary{Planning: true, Changes: map[engine.Op]int{engine.OpCreate: 1}, Result: "succeeded"},
			&engine.Finished{},
		} {
			v.Event(e)
		}
		v.Close()
		require.Regexp(t, "(?s)"+c.want, errs.String(), name)
		require.Contains(t, errs.String(), "1 gone, 1 to create", name)
		require.NotContains(t, errs.String(), "length", name)
	}
}
