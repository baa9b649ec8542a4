package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/cli"
	"github.com/yamlhost/yamlhost/internal/release"
	"github.com/yamlhost/yamlhost/internal/testfile"
)

// TestPageIsCurrent fails when a command has changed and docs/commands.md has not.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()
	if release.Edition != "default" {
		t.Skip("the page is about the default edition, which has more key services")
	}
	const path = "../../../docs/commands.md"
	var got bytes.Buffer
	writePage(&got, cli.Commands())
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want := testfile.Text(t, path)
	require.Equal(t, want, got.String(), "write it anew: go run ./cmd/internal/manual -page docs/commands.md")
}

// TestProvidersAreCurrent fails when a schema of a built-in provider has changed and docs/providers.md has not.
func TestProvidersAreCurrent(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/providers.md"
	var got bytes.Buffer
	require.NoError(t, writeProviders(&got))
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want := testfile.Text(t, path)
	require.Equal(t, want, got.String(),
		"write it anew: go run ./cmd/internal/manual -providers docs/providers.md")
}

// TestSchemasAreCurrent fails if the output of commands has changed and docs/schemas or docs/json.md has not.
func TestSchemasAreCurrent(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	if os.Getenv("UPDATE_GOLDENS") != "" {
		require.NoError(t, writeSchemas(root))
	}
	files, page, err := schemas(root)
	require.NoError(t, err)
	text := testfile.Text(t, filepath.Join(root, "docs/json.md"))
	const way = "write them anew: go run ./cmd/internal/manual -schemas ."
	require.Equal(t, string(page), text, way)
	entries, err := os.ReadDir(filepath.Join(root, "docs/schemas"))
	require.NoError(t, err)
	require.Len(t, entries, len(files), way)
	for _, e := range entries {
		text := testfile.Text(t, filepath.Join(root, "docs/schemas", e.Name()))
		require.Equal(t, string(files[e.Name()]), text, way)
	}
}

// Every command has a man page with its flags and examples; the same date gives the same bytes.
func TestManPages(t *testing.T) {
	t.Parallel()
	write := func() map[string]string {
		dir, pages := t.TempDir(), map[string]string{}
		require.NoError(t, write("1.2.3", time.Unix(1_700_000_000, 0).UTC(), dir, "", ""))
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			text := testfile.Text(t, filepath.Join(dir, e.Name()))
			pages[e.Name()] = text
		}
		return pages
	}
	pages := write()
	require.Equal(t, pages, write())
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() && cmd.HasParent() {
			return
		}
		page := pages[anchor(cmd)+".1"]
		require.NotEmpty(t, page, cmd.CommandPath())
		require.Contains(t, page, ".SH EXAMPLE", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(cli.Commands())
	require.Contains(t, pages["yamlhost-up.1"], `\fB--lock-timeout\fP`)
	require.Contains(t, pages["yamlhost-up.1"], "yamlhost 1.2.3")
	require.Contains(t, pages["yamlhost-up.1"], "Nov 2023")
	if program, err := exec.LookPath("man"); err == nil {
		path := filepath.Join(t.TempDir(), "yamlhost-up.1")
		require.NoError(t, os.WriteFile(path, []byte(pages["yamlhost-up.1"]), 0o644))
		cmd := exec.Command(program, "--warnings", "-l", path)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=80", "LC_ALL=C.UTF-8", "TERM=dumb")
		var out, faults bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &faults
		require.NoError(t, cmd.Run(), faults.String())
		require.Empty(t, strings.TrimSpace(faults.String()), "man has nothing against the page")
		require.Contains(t, out.String(), "lock-timeout")
	}
}
