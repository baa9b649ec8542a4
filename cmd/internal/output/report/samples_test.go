package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value/mask"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	testfile.Golden(t, os.Getenv("UPDATE_GOLDENS") != "", filepath.Join("testdata", name), got)
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	v := NewLines(&b, view.Options{}, secrets("hunter2"))
	for _, e := range viewtest.Events() {
		v.Event(e)
	}
	out := b.String()
	require.NotContains(t, out, "hunter2", "secret configuration is masked wherever it appears (L9.34)")
	require.NotContains(t, out, "opensesame", "secret values are masked (F4.16)")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, len(viewtest.Events()))
	var keys []string
	for i, line := range lines {
		var event map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		require.Len(t, event, 3, "an envelope holds a sequence, a time and one event (F7.2)")
		require.Equal(t, string(event["sequence"]), string(must(json.Marshal(i))))
		for k := range event {
			if strings.HasSuffix(k, "Event") {
				keys = append(keys, k)
			}
		}
	}
	require.Equal(t, []string{"preludeEvent", "resourcePreEvent", "resOutputsEvent", "resourcePreEvent", "resOutputsEvent",
		"resourcePreEvent",
		"diagnosticEvent", "diagnosticEvent", "diagnosticEvent", "resOpFailedEvent", "summaryEvent", "cancelEvent"}, keys)
	require.Contains(t, out,
		`"KEY":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}`, "F7.6")
	require.Contains(t, out, "<b>", "events do not escape HTML (F7.9)")
	require.Contains(t, out,
		`"resourceChanges":{"replace":1,"same":1},"PolicyPacks":{},"isPreview":false,"result":"failed"`, "F7.8")
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// secrets returns a masker of texts.
func secrets(texts ...string) *mask.Masker {
	m := mask.New()
	for _, text := range texts {
		m.LearnText(text)
	}
	return m
}

// sampleOptions returns options with the program of the sample events.
func sampleOptions() view.Options {
	text := []byte("name: p\nruntime: yaml\nresources:\n  cmd:\n    type: command:local:Command\n")
	return view.Options{Root: "/root", Operation: "Updating", Stack: "dev",
		Source: func(string) *diag.Source { return diag.NewSource("Pulumi.yaml", text) }}
}

func TestDigest(t *testing.T) { // E8.22, E8.23, E8.24: all members in their order
	t.Parallel()
	d := NewDigest(sampleOptions(), secrets("hunter2"))
	for _, e := range viewtest.Events() {
		d.Event(e)
	}
	var b bytes.Buffer
	require.NoError(t, d.Write(&b))
	golden(t, "digest.json", b.String())
}

// Parts of a command that were only planned have counts with other words than applied parts.
func TestOutputsOfAStepSumCounts(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, writeOutputs(&b, &Record{Counts: []view.Counted{
		{Op: "create", N: 3, Words: "created"}, {Op: "create", N: 2, Words: "to create"}}}))
	require.Contains(t, b.String(), "create=5\n")
}
