package check_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// A package without a schema is never taken for another one with a similar name (L7.22). The finding has the command
// that installs it, and no fix.
func TestMissingPackageIsNotGuessed(t *testing.T) {
	t.Parallel()
	const text = `name: p
runtime: yaml
variables:
  net:
    fn::aws:ec2:getVpc: {default: true}
  other:
    fn::invoke: {function: 'aws:ec2:getVpc', arguments: {default: true}}
resources:
  net2: {type: awsx:ec2:Vpc}
  pet: {type: rnadom:RandomPet}
`
	l := with(sampleLoader(), "awsx", "random")
	found := findings(t, text, l)
	require.Len(t, found, 2)
	require.Equal(t, "install it with: yamlhost plugin install resource aws", found[0].Detail)
	require.Equal(t, "install it with: yamlhost plugin install resource rnadom", found[1].Detail)
	for _, d := range found {
		require.Equal(t, diag.PackageMissing, d.Code)
		require.Empty(t, d.Fixes)
	}
}

// If several packages have the same name, a token that none of them has may belong to one that is missing.
func TestMissingAmongSeveral(t *testing.T) {
	t.Parallel()
	random := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Version == "2.0.0" {
			return nil, fmt.Errorf("package %s: %w", d.Name, schema.ErrNotFound)
		}
		return os.ReadFile("testdata/random.json")
	})
	for _, versions := range [][]string{{"1.0.0", "2.0.0"}, {"2.0.0", "1.0.0"}} {
		_, found := checkText(t, "Main.yaml",
			"resources:\n  b: {type: 'random:RandomPot'}\nvariables:\n  c: {fn::random:getPot: {}}\n",
			func(o *check.Options) {
				o.Schemas = random
				for _, v := range versions {
					o.Packages = append(o.Packages, schema.Descriptor{Name: "random", Version: v})
				}
			})
		require.Len(t, found, 1)
		require.Equal(t, "no provider for package random 2.0.0", found[0].Summary)
		require.Equal(t, "install it with: yamlhost plugin install resource random 2.0.0", found[0].Detail)
	}
}

// TestFixesWithoutSchemas removes one schema, or all of them. Every fix of such a check must also be a fix of the check
// with all schemas.
func TestFixesWithoutSchemas(t *testing.T) {
	t.Parallel()
	var programs []sampleProgram
	for _, p := range samplePrograms(t) {
		programs = append(programs, p, sampleProgram{p.provider, p.name + " (broken)", halved(p.text)})
	}
	fixesWithoutSchemas(t, programs, func(string) schema.Loader { return sampleLoader() })
}

// TestDocumentationFixesWithoutSchemas does the same with every program of the documentation.
func TestDocumentationFixesWithoutSchemas(t *testing.T) {
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		t.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this test")
	}
	s, err := openShelf(dir)
	require.NoError(t, err)
	var programs []sampleProgram
	for _, name := range s.names() {
		data, err := s.text(name)
		require.NoError(t, err)
		for i, text := range yamlBlocks(data) {
			programs = append(programs, sampleProgram{name, fmt.Sprint(i), text})
		}
	}
	fixesWithoutSchemas(t, programs, s.loader)
}

func fixesWithoutSchemas(t *testing.T, programs []sampleProgram, loaderOf func(provider string) schema.Loader) {
	checks := 0
	loaders := make(map[string]*recordedLoader)
	for _, p := range programs {
		all := loaders[p.provider]
		if all == nil {
			all = &recordedLoader{Loader: loaderOf(p.provider)}
			loaders[p.provider] = all
		}
		all.asked = nil
		right := editsOf(findings(t, p.text, all))
		asked := slices.Compact(slices.Sorted(slices.Values(all.asked)))
		without := []schema.Loader{with(all.Loader)}
		for _, name := range asked {
			without = append(without, with(all.Loader, slices.DeleteFunc(slices.Clone(asked),
				func(n string) bool { return n == name })...))
		}
		for _, l := range without {
			checks++
			for _, edit := range editsOf(findings(t, p.text, l)) {
				require.Contains(t, right, edit, "%s/%s\n%s", p.provider, p.name, p.text)
			}
		}
	}
	t.Logf("%d programs, %d checks without a schema", len(programs), checks)
}

// editsOf returns the edits of the first fix of each finding, as texts.
func editsOf(ds diag.Diagnostics) []string {
	var edits []string
	for _, d := range ds {
		for _, f := range d.Fixes[:min(len(d.Fixes), 1)] {
			for _, e := range f.Edits {
				edits = append(edits, fmt.Sprintf("%d-%d %s", e.Range.Start, e.Range.End, e.Text))
			}
		}
	}
	return edits
}

// halved returns the second half of a program: a fragment, as in documentation.
func halved(text string) string { return text[len(text)/2:] }

// recordedLoader records the loaded packages.
type recordedLoader struct {
	schema.Loader
	mu    sync.Mutex // guards asked
	asked []string
}

func (l *recordedLoader) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	pkg, err := l.Loader.Load(ctx, d)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = append(l.asked, d.PackageName())
	}
	return pkg, err
}

// someSchemas limits a loader to some packages.
type someSchemas struct {
	schema.Loader
	names []string
}

// with returns a loader that has only the named packages.
func with(l schema.Loader, names ...string) schema.Loader {
	return someSchemas{l, append(names, "pulumi")}
}

func (l someSchemas) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	if !slices.Contains(l.names, d.PackageName()) {
		return nil, fmt.Errorf("package %s: %w", d.PackageName(), schema.ErrNotFound)
	}
	return l.Loader.Load(ctx, d)
}
