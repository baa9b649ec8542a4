package builtins_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

// Each record has everything that checker, editor, command line and documentation need.
func TestRecords(t *testing.T) {
	t.Parallel()
	rule := regexp.MustCompile(`^(L\d+\.[A-Z]?\d+|D6)$`)
	for _, f := range builtins.Table() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			require.Regexp(t, `^[A-Z].*[^.]\.$`, f.Summary, "a summary is one sentence")
			require.NotContains(t, strings.TrimSuffix(f.Summary, "."), ". ", "a summary is one sentence")
			require.Contains(t, f.Example, "fn::"+f.Name+":")
			if f.Shape == builtins.Fields {
				require.Empty(t, f.Call, "what takes a map is called in YAML only")
			} else {
				require.Contains(t, f.Call, f.Name+"(")
			}
			require.NotEmpty(t, f.Gives, "an example says what it gives; a test of the evaluator carries it out")
			require.Regexp(t, rule, f.Rule)
			require.NotEmpty(t, f.Since)
			require.NotNil(t, f.Result)
			require.NotEmpty(t, f.Params)
			if f.Name == "invoke" || f.Name == "call" {
				require.Nil(t, f.Eval, "calls of providers are the evaluator's")
			} else {
				require.NotEqual(t, f.Eval == nil, f.Lazy == nil, "a function has one body")
			}
			if len(f.Params) > 1 {
				require.NotEqual(t, builtins.Whole, f.Shape)
			}
			optional := false
			names := make(map[string]bool)
			for i, p := range f.Params {
				require.NotEmpty(t, p.Name)
				require.NotEmpty(t, p.Doc, p.Name)
				require.NotRegexp(t, `\.$`, p.Doc, "a parameter's text is not a sentence")
				require.NotNil(t, p.Type, p.Name)
				require.False(t, names[p.Name], p.Name)
				names[p.Name] = true
				require.False(t, optional && !p.Optional && !(f.Variadic && i == len(f.Params)-1), "required behind optional")
				optional = optional || p.Optional
			}
			// The type of the result is defined for known and unknown types of the arguments.
			for n := range len(f.Params) + 2 {
				require.NotNil(t, f.Result(make([]schema.Type, n)))
				types := slices.Repeat([]schema.Type{schema.Invalid}, n)
				require.NotNil(t, f.Result(types))
			}
		})
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, f := range builtins.Table() {
		for _, name := range append([]string{f.Name, strings.ToUpper(f.Name), strings.ToLower(f.Name)}, f.Aliases...) {
			got, ok := builtins.Lookup(name)
			require.True(t, ok, name)
			require.Same(t, f, got, name)
		}
	}
	got, ok := builtins.Lookup("fileBase64") // L6.24
	require.True(t, ok)
	require.Equal(t, "filebase64", got.Name)
	_, ok = builtins.Lookup("fn::join")
	require.False(t, ok)

	require.True(t, slices.IsSortedFunc(builtins.Table(), func(a, b *builtins.Func) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}))
}

// TestPortable lists the functions that Pulumi YAML has too (L6.B).
func TestPortable(t *testing.T) {
	t.Parallel()
	want := []string{"assetArchive", "fileArchive", "fileAsset", "filebase64", "filebase64sha256", "fromBase64", "invoke",
		"join",
		"length", "pulumiResourceName", "pulumiResourceType", "readFile", "remoteArchive", "remoteAsset", "secret", "select",
		"sha1", "singleOrNone", "split", "stackReference", "stringAsset", "toBase64", "toJSON", "unsecret"}
	var got []string
	for _, f := range builtins.Table() {
		if f.Portable {
			got = append(got, f.Name)
		}
	}
	require.ElementsMatch(t, want, got)
}

// TestNoEnvironment checks that bodies have effects only through Env and access no files themselves.
func TestNoEnvironment(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		text := testfile.Text(t, file.Name())
		require.NotRegexp(t, `"(os|net|net/http|os/exec)"`, text, file.Name())
	}
}
