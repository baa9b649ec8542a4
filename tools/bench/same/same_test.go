package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProgramsOfAnArchive(t *testing.T) {
	t.Parallel()
	alone := inArchive("alone", txtar.Parse([]byte("-- Main.yaml --\noutputs: {}\n-- config --\nsecret key=a=b\n-- out/x --\n")))
	require.Len(t, alone, 1)
	require.Equal(t, []string{"key=a=b"}, alone[0].config)
	require.NotContains(t, alone[0].files, "out/x")
	dir, err := alone[0].unpack(t.TempDir())
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "Pulumi.yaml"))

	two := inArchive("two", txtar.Parse([]byte("-- a/Pulumi.yaml --\nname: a\n-- b/Pulumi.yaml --\nname: b\n")))
	require.Len(t, two, 2)
	require.Equal(t, "two/b", two[1].name)
	dir, err = two[1].unpack(t.TempDir())
	require.NoError(t, err)
	text := testfile.Text(t, filepath.Join(dir, "Pulumi.yaml"))
	require.Equal(t, "name: b\n", text)

	require.Empty(t, inArchive("none", txtar.Parse([]byte("-- other --\n"))))
}

func TestWhatRunsHaveInCommon(t *testing.T) {
	t.Parallel()
	common, unstable := stable(outcome{"a": "1", "b": "2", "c": "3"}, outcome{"a": "1", "b": "5"})
	require.Equal(t, outcome{"a": "1"}, common)
	require.Equal(t, map[string]bool{"b": true, "c": true}, unstable)
}

// The journal of a run is kept under a second name and split into its records.
func TestJournalIsKeptAndRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, stop, done := filepath.Join(dir, "kept"), make(chan struct{}), make(chan struct{})
	folder := filepath.Join(dir, "stacks")
	require.NoError(t, os.Mkdir(folder, 0o700))
	record := `H{"stack":"p/dev"}`
	data := append([]byte("yhjrnl\x00\x01"), byte(len(record)), 0, 0, 0, 1, 2, 3, 4)
	data = append(data, record...)
	go keepJournal(folder, kept, stop, done)
	journal := filepath.Join(folder, "dev.yamlhost-journal")
	require.NoError(t, os.WriteFile(journal, data, 0o600))
	<-done
	require.NoError(t, os.Remove(journal))
	text := testfile.Bytes(t, kept)
	records, err := readJournal(text)
	require.NoError(t, err)
	require.Equal(t, []string{`{"kind":"H","record":{"stack":"p/dev"}}`}, []string{string(records[0])})
	_, err = readJournal(data[:len(data)-1])
	require.ErrorContains(t, err, "the journal is cut at byte 8")
}

// A second run of the same life differs in times and random ids only; these are not compared.
func TestVolatile(t *testing.T) {
	t.Parallel()
	o := outcome{}
	events(o, "run", volatile(`{"sequence":3,"timestamp":7,"stepEvent":{"metadata":{"urn":"u"},`+
		`"at":"2026-11-22T14:52:07.9Z","id":"66fdc57f-2a0a-4b8d-bf80-f8fe8c17ff99","durationSeconds":4}}`))
	require.Equal(t, outcome{"run/events stepEvent u/0/stepEvent/metadata/urn": `"u"`,
		"run/events stepEvent u/0/stepEvent/at": `"TIME"`, "run/events stepEvent u/0/stepEvent/id": `"UUID"`}, o)
}

func TestJournalsThatNotEveryRunShows(t *testing.T) {
	t.Parallel()
	runs := []outcome{{"run/journal000 /kind": "H", "run/journal001 /kind": "E", "run/exit": "0"}, {"run/exit": "0"}}
	require.Equal(t, 1, unseen(runs))
	require.Equal(t, outcome{"run/exit": "0"}, runs[0])
}

func TestReasons(t *testing.T) {
	t.Parallel()
	list, err := readReasons("named.txt")
	require.NoError(t, err)
	c := comparison{named: list}
	require.Contains(t, c.reasonOf("p run/exit: 1 | 12").text, "exit codes")
	require.Nil(t, c.reasonOf("p run/exit: 0 | 1"))
}
