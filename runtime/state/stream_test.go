package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// streamed is what StreamExport writes of a text that comes in pieces.
func streamed(text []byte, pieces func(io.Reader) io.Reader) ([]byte, error) {
	var out bytes.Buffer
	err := StreamExport(&out, func() (io.Reader, error) { return pieces(bytes.NewReader(text)), nil },
		func() error { return nil })
	return out.Bytes(), err
}

var piecewise = map[string]func(io.Reader) io.Reader{
	"whole": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "one byte": iotest.OneByteReader,
}

// requireStreamed compares what is read piece by piece with what is read as a whole.
func requireStreamed(t *testing.T, text []byte, at string) {
	t.Helper()
	c, err := DecodeCheckpoint(text, nil)
	require.NoError(t, err, at)
	want, err := EncodeExport(c.Snapshot, Sealed(nil))
	require.NoError(t, err, at)
	for name, pieces := range piecewise {
		got, err := streamed(text, pieces)
		require.NoError(t, err, "%s, %s", at, name)
		require.Equal(t, string(want), string(got), "%s, %s", at, name)
		s, err := Summarize(pieces(bytes.NewReader(text)))
		require.NoError(t, err, "%s, %s", at, name)
		require.Equal(t, Summary{c.Snapshot.Manifest.Time, len(c.Snapshot.Resources), len(c.Snapshot.Pending)}, s, "%s, %s",
			at, name)
	}
}

// F5.17: an export is the same however the state is read.
func TestStreamExport(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checkpoint-pending.json", "checkpoint-v3.json", "checkpoint-v4-taint.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		requireStreamed(t, text, name)
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, text))
		requireStreamed(t, compact.Bytes(), name+", compact")
	}
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", `"`, `\`, `\\`, `\"`, `{[`, "<&>", "\u2028", "é", strings.Repeat(`\"`, 70000), "]}", "x\xff"}
	var deep func(depth int) value.Value
	deep = func(depth int) value.Value {
		switch n := random.IntN(9); {
		case n < 4 || depth == 0:
			return value.String(texts[random.IntN(len(texts))])
		case n == 4:
			return value.Number(random.NormFloat64() * 1e9)
		case n == 5:
			return value.List(deep(depth-1), deep(depth-1))
		case n == 6:
			return deep(depth - 1).Secret()
		case n == 7:
			return value.MapOf()
		}
		return value.MapOf(value.Entry{Key: texts[random.IntN(8)], Value: deep(depth - 1)},
			value.Entry{Key: "k", Value: deep(depth - 1)})
	}
	for i := range 60 {
		s := &Snapshot{Manifest: NewManifest("v", time.Unix(int64(i), 0).UTC()),
			Metadata: json.RawMessage([]string{"", `{"x":[]}`}[i%2])}
		if i%3 > 0 {
			s.SecretsProvider = &SecretsProvider{Type: "b64"}
		}
		for j := range random.IntN(4) {
			s.Resources = append(s.Resources, &Resource{URN: urn.URN(fmt.Sprintf("urn:pulumi:dev::p::t:m:R::n%d", j)),
				Type: "t:m:R", Custom: true,
				Inputs:  value.MapOf(value.Entry{Key: "x", Value: deep(3)}),
				Outputs: value.MapOf(value.Entry{Key: "y", Value: deep(3)}), Taint: random.IntN(9) == 0})
		}
		for range random.IntN(3) - 1 {
			s.Pending = append(s.Pending, Operation{Kind: Creating, Resource: &Resource{URN: "urn:pulumi:dev::p::t:m:R::p",
				Type: "t:m:R", Inputs: value.MapOf(value.Entry{Key: "x", Value: deep(2)}), Outputs: value.EmptyMap()}})
		}
		text, err := EncodeCheckpoint(&Checkpoint{Stack: "organization/p/dev", Snapshot: s,
			Unknown: map[string]json.RawMessage{"more": json.RawMessage(`"x"`)}}, secrets.B64{})
		require.NoError(t, err)
		requireStreamed(t, text, fmt.Sprint("random ", i))
	}
}

// A malformed state is left to the reader of the whole text, and nothing of it is written.
func TestNotStreamed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/checkpoint-pending.json")
	require.NoError(t, err)
	for cut := 0; cut < len(text)-2; cut += 7 {
		got, err := streamed(text[:cut], piecewise["whole"])
		require.ErrorIs(t, err, ErrNotStreamed, "cut at %d", cut)
		require.Empty(t, got)
		_, err = Summarize(bytes.NewReader(text[:cut]))
		require.ErrorIs(t, err, ErrNotStreamed, "cut at %d", cut)
	}
	for name, text := range map[string]string{
		"nothing": "", "no object": "[]", "a new stack": `{"version":0,"checkpoint":{"stack":"x"}}`,
		"no snapshot":   `{"version":3,"checkpoint":{"latest":null}}`,
		"more text":     `{"version":3,"checkpoint":{"latest":{"manifest":{},"resources":[]}}} x`,
		"a newer one":   `{"version":9,"checkpoint":{"latest":{"manifest":{},"resources":[]}}}`,
		"twice":         `{"version":3,"checkpoint":{"latest":{"manifest":{},"resources":[],"resources":[]}}}`,
		"another order": `{"version":3,"checkpoint":{"latest":{"manifest":{},"pending_operations":[],"resources":[]}}}`,
		"a list of 1":   `{"version":3,"checkpoint":{"latest":{"manifest":{},"resources":[1]}}}`,
		"mismatched":    `{"version":3,"checkpoint":{"latest":{"manifest":{},"resources":[{]]}}}`,
	} {
		got, err := streamed([]byte(text), piecewise["whole"])
		require.ErrorIs(t, err, ErrNotStreamed, name)
		require.Empty(t, got, name)
	}
	broken := errors.New("the disk is broken")
	_, err = Summarize(io.MultiReader(strings.NewReader(`{"version"`), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	flipped := errors.New("flipped")
	var out bytes.Buffer
	err = StreamExport(&out, func() (io.Reader, error) { return bytes.NewReader(text), nil },
		func() error { return flipped })
	require.ErrorIs(t, err, flipped)
	require.Empty(t, out.Bytes())
}

func FuzzStreamExport(f *testing.F) {
	for _, name := range []string{"checkpoint-pending.json", "checkpoint-v3.json", "checkpoint-v4-taint.json",
		"checkpoint-new-stack.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := streamed(text, piecewise["half"])
		if err != nil {
			require.ErrorIs(t, err, ErrNotStreamed)
			return
		}
		c, err := DecodeCheckpoint(text, nil)
		require.NoError(t, err)
		want, err := EncodeExport(c.Snapshot, Sealed(nil))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}
