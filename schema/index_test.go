package schema_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

// sameAnswers fails unless two packages have equal definitions.
func sameAnswers(t *testing.T, want, got *schema.Package) {
	t.Helper()
	require.Equal(t, want.Name, got.Name)
	require.Equal(t, want.Version, got.Version)
	require.Equal(t, want.Description, got.Description)
	require.Equal(t, want.AllowedPackageNames, got.AllowedPackageNames)
	require.Equal(t, want.ResourceTokens(), got.ResourceTokens())
	require.Equal(t, want.FunctionTokens(), got.FunctionTokens())
	require.Equal(t, want.TypeTokens(), got.TypeTokens())
	for _, token := range want.ResourceTokens() {
		for _, written := range []string{token, schema.CollapseToken(token), strings.ToLower(token), token + "x"} {
			a, errA := want.ResolveResource(written)
			b, errB := got.ResolveResource(written)
			require.Equal(t, errA == nil, errB == nil, written)
			if errA != nil {
				require.ErrorIs(t, errB, schema.ErrNoSuchToken)
				continue
			}
			require.Equal(t, a.Token, b.Token, written)
			require.Equal(t, a.Aliases, b.Aliases)
			require.True(t, schema.Identical(a.Inputs, b.Inputs), written)
			require.True(t, schema.Identical(a.Outputs, b.Outputs), written)
			for _, alias := range a.Aliases {
				x, okX := want.ResourceByAlias(alias)
				y, okY := got.ResourceByAlias(alias)
				require.Equal(t, okX, okY)
				require.Equal(t, x, y)
			}
		}
	}
	for _, token := range want.FunctionTokens() {
		a, errA := want.ResolveFunction(schema.CollapseToken(token))
		b, errB := got.ResolveFunction(schema.CollapseToken(token))
		require.Equal(t, errA, errB)
		require.True(t, schema.Identical(a.Inputs, b.Inputs), token)
	}
	a, errA := want.Provider()
	b, errB := got.Provider()
	require.Equal(t, errA, errB)
	require.True(t, schema.Identical(a.Inputs, b.Inputs))
}

func TestIndexSaysWhatTheTextSays(t *testing.T) { // L7.1, L7.23
	t.Parallel()
	files := testfile.Match(t, "../check/testdata/corpus/*.json")
	own := testfile.Match(t, "testdata/*.json")
	for _, path := range append(files, own...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			data := testfile.Bytes(t, path)
			want, err := schema.Parse(data)
			require.NoError(t, err)
			index, err := schema.BuildIndex(iotest.OneByteReader(bytes.NewReader(data)), "stamp")
			require.NoError(t, err)
			got, err := schema.OpenIndexed(index, bytes.NewReader(data), int64(len(data)), "stamp")
			require.NoError(t, err)
			sameAnswers(t, want, got)
		})
	}
}

func TestIndexOfAnotherText(t *testing.T) {
	t.Parallel()
	data := testfile.Bytes(t, "testdata/zoo.json")
	index, err := schema.BuildIndex(bytes.NewReader(data), "one")
	require.NoError(t, err)
	text := bytes.NewReader(data)
	for name, open := range map[string]func() error{
		"another stamp": func() error { _, err := schema.OpenIndexed(index, text, int64(len(data)), "two"); return err },
		"another size":  func() error { _, err := schema.OpenIndexed(index, text, int64(len(data))-1, "one"); return err },
		"no index":      func() error { _, err := schema.OpenIndexed(nil, text, int64(len(data)), "one"); return err },
	} {
		require.ErrorIs(t, open(), schema.ErrDamaged, name)
	}
	for i := range index { // a change of any byte is noticed
		broken := bytes.Clone(index)
		broken[i] ^= 0x40
		_, err := schema.OpenIndexed(broken, text, int64(len(data)), "one")
		require.ErrorIs(t, err, schema.ErrDamaged, "byte %d", i)
		_, err = schema.OpenIndexed(index[:i], text, int64(len(data)), "one")
		require.ErrorIs(t, err, schema.ErrDamaged, "cut at %d", i)
	}
	// A definition that has changed since the index was built is an error.
	changed := bytes.Clone(data)
	i := bytes.Index(changed, []byte(`"zoo:index:Echo"`)) + len(`"zoo:index:Echo": {`) + 3
	changed[i] ^= 1
	opened, err := schema.OpenIndexed(index, bytes.NewReader(changed), int64(len(data)), "one")
	require.NoError(t, err)
	_, err = opened.ResolveResource("zoo:Echo")
	require.ErrorIs(t, err, schema.ErrDamaged)
	opened, err = schema.OpenIndexed(index, bytes.NewReader(data[:len(data)/4]), int64(len(data)), "one")
	require.NoError(t, err)
	failed := 0
	for _, token := range opened.ResourceTokens() {
		if _, err := opened.Resource(token); err != nil {
			require.ErrorIs(t, err, schema.ErrDamaged)
			failed++
		}
	}
	require.Positive(t, failed)
}

// Eight users open, damage and replace one cache concurrently: each result is correct or an error, and the last one is
// correct.
func TestIndexFileIsShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, indexPath := filepath.Join(dir, "zoo.json"), filepath.Join(dir, "sub", "zoo.index")
	data := testfile.Bytes(t, "testdata/zoo.json")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	want, err := schema.Parse(data)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for user := range 8 {
		wait.Go(func() {
			for round := range 40 {
				switch {
				case user == 0 && round%4 == 1:
					_ = os.Truncate(indexPath, int64(round*10))
				case user == 1 && round%4 == 2:
					_ = os.WriteFile(indexPath, []byte("yamlhost schema index 1\nnonsense"), 0o644)
				case user == 2 && round%5 == 3:
					_ = os.Remove(indexPath)
				}
				got, err := schema.OpenFile(path, indexPath)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				a, _ := want.ResolveResource("zoo:Typed")
				b, err := got.ResolveResource("zoo:Typed")
				if err != nil || !schema.Identical(a.Inputs, b.Inputs) {
					t.Errorf("wrong answer: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
	got, err := schema.OpenFile(path, indexPath)
	require.NoError(t, err)
	sameAnswers(t, want, got)
	left := testfile.Match(t, filepath.Join(dir, "sub", ".index-*"))
	require.Empty(t, left)

	// A changed byte is reported although size and time are the same, and the next reader rebuilds the index.
	info, err := os.Stat(path)
	require.NoError(t, err)
	changed := bytes.Clone(data)
	changed[bytes.Index(changed, []byte(`"zoo:index:Echo"`))+len(`"zoo:index:Echo": {`)+3] = 'X'
	require.NoError(t, os.WriteFile(path, changed, 0o644))
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	got, err = schema.OpenFile(path, indexPath)
	require.NoError(t, err)
	_, err = got.ResolveResource("zoo:Echo")
	require.ErrorIs(t, err, schema.ErrDamaged)
	require.NoFileExists(t, indexPath)
	got, err = schema.OpenFile(path, indexPath)
	require.NoError(t, err)
	_, err = got.ResolveResource("zoo:Echo")
	require.NotErrorIs(t, err, schema.ErrDamaged)

	// A schema that replaces another one is read again.
	other := testfile.Bytes(t, "testdata/random.json")
	require.NoError(t, os.WriteFile(path, other, 0o644))
	got, err = schema.OpenFile(path, indexPath)
	require.NoError(t, err)
	require.Equal(t, "random", got.Name)
	require.NoError(t, os.WriteFile(path, other[:len(other)/2], 0o644))
	_, err = schema.OpenFile(path, indexPath)
	require.Error(t, err)
	require.False(t, errors.Is(err, os.ErrNotExist))
}

func TestIndexOfRealSchemas(t *testing.T) {
	for _, path := range realSchemas(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			plain, indexPath := filepath.Join(t.TempDir(), "schema.json"), filepath.Join(t.TempDir(), "index")
			data := unzip(t, path)
			require.NoError(t, os.WriteFile(plain, data, 0o644))
			size := len(data)
			start := time.Now()
			want, err := schema.Parse(data)
			scan := time.Since(start)
			require.NoError(t, err)
			start = time.Now()
			_, err = schema.OpenFile(plain, indexPath)
			require.NoError(t, err)
			cold := time.Since(start)
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start = time.Now()
			got, err := schema.OpenFile(plain, indexPath)
			require.NoError(t, err)
			for _, token := range got.ResourceTokens()[:min(5, len(got.ResourceTokens()))] {
				_, err := got.ResolveResource(token)
				require.NoError(t, err)
			}
			warm := time.Since(start)
			runtime.ReadMemStats(&after)
			info, err := os.Stat(indexPath)
			require.NoError(t, err)
			t.Logf("%d MiB: scan %v, cold %v, warm with five resources %v and %d KiB; index of %d KiB", size>>20, scan, cold,
				warm, (after.TotalAlloc-before.TotalAlloc)>>10, info.Size()>>10)
			if size < 8<<20 {
				sameAnswers(t, want, got)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	data := testfile.Bytes(f, "testdata/zoo.json")
	index, err := schema.BuildIndex(bytes.NewReader(data), "s")
	require.NoError(f, err)
	f.Add(index)
	f.Fuzz(func(t *testing.T, index []byte) {
		p, err := schema.OpenIndexed(schema.Resealed(index), bytes.NewReader(data), int64(len(data)), "s")
		if err != nil {
			require.ErrorIs(t, err, schema.ErrDamaged)
			return
		}
		for _, token := range append(p.ResourceTokens(), p.FunctionTokens()...) {
			_, _ = p.ResolveResource(token)
			_, _ = p.ResolveFunction(strings.ToUpper(token))
		}
		_, _ = p.ResourceByAlias("zoo:old/thing:Thing")
		_ = p.Verify()
	})
}

func TestCollapseToken(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"random:index/randomPet:RandomPet": "random:RandomPet",
		"aws:s3/bucket:Bucket":             "aws:s3:Bucket",
		"kubernetes:core/v1:Namespace":     "kubernetes:core/v1:Namespace",
		"a:index:B":                        "a:B",
		"a:b:C":                            "a:b:C",
	} {
		require.Equal(t, want, schema.CollapseToken(token))
	}
}
