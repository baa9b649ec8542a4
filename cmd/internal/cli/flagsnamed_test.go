package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

var (
	// calledIn matches the calls of this program in a message: in backquotes, or behind a colon to the end of a line.
	calledIn = regexp.MustCompile("`(yamlhost [^`]*)`|\\b(?:with|by|else|stack|FILE|NAME): (yamlhost [^\n;`]*)")
	verbIn   = regexp.MustCompile(`%(\[\d+\])?[sqvd]|\bN\b`)
	flagIn   = regexp.MustCompile(`(^|[\s(,;:])--([a-z][a-z-]+)`)
)

// lacking returns what a message names that is not there: commands, flags of commands, and flags alone that cmd does
// not have. flags alone are not looked at if cmd is nil.
func lacking(message string, cmd *cobra.Command) (faults []string) {
	message = verbIn.ReplaceAllString(message, "1")
	for _, m := range calledIn.FindAllStringSubmatch(message, -1) {
		args, ok := wordsOf(m[1] + m[2])
		if !ok || args[0] == "1" || strings.Contains(m[0], "…") {
			continue
		}
		if err := wouldRun(args, false); err != nil && !strings.Contains(err.Error(), "needs an argument") {
			faults = append(faults, m[1]+m[2]+": "+err.Error())
		}
	}
	if cmd == nil {
		return faults
	}
	for _, m := range flagIn.FindAllStringSubmatch(calledIn.ReplaceAllString(message, ""), -1) {
		if !hasFlag(cmd, m[2]) {
			faults = append(faults, cmd.CommandPath()+" has no --"+m[2])
		}
	}
	return faults
}

// What is said about a flag that is not there names only what is: commands, and flags of the same command.
func TestAbsentFlagsLeadToFlagsThatExist(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../console/nothere.txt")
	require.NoError(t, err)
	var absent []string
	for line := range strings.Lines(string(table)) {
		if flag, is := strings.CutPrefix(line, "--"); is {
			name, _, _ := strings.Cut(strings.TrimSpace(flag), ":")
			absent = append(absent, name)
		}
	}
	tried, elsewhere := 0, 0
	root := newRoot(&console.Console{}, &profile{})
	visit(root, "", func(cmd *cobra.Command, path string) {
		if cmd.DisableFlagParsing {
			return
		}
		for _, name := range absent {
			err := console.FlagError(cmd, cmd.ParseFlags([]string{"--" + name}))
			if hasFlag(cmd, name) {
				continue
			}
			tried++
			// "yamlhost does not have it" is only said of a flag that no command has.
			if someHas(root, name) {
				elsewhere++
				require.ErrorContains(t, err, cmd.CommandPath()+" has no flag --"+name)
				require.NotContains(t, err.Error(), "yamlhost does not have")
			}
			said := strings.ReplaceAll(err.Error(), "--"+name+" is a flag of the", "it is a flag of the")
			said = strings.ReplaceAll(said, "has no flag --"+name, "")
			for _, fault := range lacking(said, cmd) {
				t.Errorf("yamlhost %s --%s: %s: %s", path, name, err, fault)
			}
		}
	})
	require.Greater(t, tried, 1000)
	require.Greater(t, elsewhere, 100)
}

// literals calls do with each constant text of a Go file.
func literals(t *testing.T, path string, do func(text string)) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var text func(e ast.Expr) (string, bool)
	text = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return s, err == nil && e.Kind == token.STRING
		case *ast.BinaryExpr: // what is between constant parts stands for a word
			left, ok := text(e.X)
			right, also := text(e.Y)
			if !ok {
				left = "1"
			}
			if !also {
				right = "1"
			}
			return left + right, e.Op == token.ADD && (ok || also)
		}
		return "", false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if s, ok := text(e); ok {
				do(s)
				return false
			}
		}
		return true
	})
}

// Every command that a text of the program names exists, with its flags.
func TestCommandsInTextsExist(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, room := range []string{"cmd/internal", "internal", "runtime", "workspace", "check", "eval", "builtins",
		"parser",
		"langhost", "editor"} {
		folder := filepath.Join("../../..", room)
		require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			literals(t, path, func(text string) {
				calls += len(calledIn.FindAllString(text, -1))
				for _, fault := range lacking(text, nil) {
					t.Errorf("%s: %q: %s", path, text, fault)
				}
			})
			return nil
		}))
	}
	require.Greater(t, calls, 100)
}
