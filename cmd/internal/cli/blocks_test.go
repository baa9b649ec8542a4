//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A proof states how a block of a page is verified. Exactly one of by, why and show is set.
type proof struct {
	page string // path from the root of the repository
	has  string // part of the block's kind and text; empty for all blocks without an earlier proof
	// by names the test that executes the block, as FILE:NAME, or the make target that writes it.
	by   string
	why  string // reason why the block cannot be executed
	show func(*testing.T, *stage, block)
}

func (p *proof) about(page string, b block) bool {
	return p.page == page && strings.Contains(b.kind+"\n"+b.text, p.has)
}

// TestBlocksOfPages requires a proof for every code block on every page: it is executed here or by another test, or the
// table gives the reason why it cannot be. The test logs the number of blocks of each kind.
func TestBlocksOfPages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	proofs := proofs()
	needed := make([]bool, len(proofs))
	var mu sync.Mutex // guards counts, which subtests add to
	counts := map[string]int{}
	count := func(kind string) {
		mu.Lock()
		defer mu.Unlock()
		counts[kind]++
	}
	t.Run("pages", func(t *testing.T) {
		for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md"} {
			paths, err := filepath.Glob(filepath.Join("../../..", pattern))
			require.NoError(t, err)
			require.NotEmpty(t, paths)
			for _, path := range paths {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				page, err := filepath.Rel("../../..", path)
				require.NoError(t, err)
				for _, b := range everyBlock(string(text)) {
					count("blocks")
					pos := slices.IndexFunc(proofs, func(p proof) bool { return p.about(page, b) })
					if pos < 0 {
						t.Errorf("%s:%d: nothing executes this block, and no reason is given:\n%s", page, b.line, b.text)
						continue
					}
					needed[pos] = true
					switch p := proofs[pos]; {
					case p.show != nil:
						t.Run(fmt.Sprintf("%s:%d", page, b.line), func(t *testing.T) {
							t.Parallel()
							p.show(t, s, b)
							if t.Skipped() {
								count("not on this machine")
								return
							}
							count("executed here")
						})
					case p.by != "":
						count("executed by others")
					default:
						count("cannot be executed")
						t.Logf("%s:%d: %s", page, b.line, p.why)
					}
				}
			}
		}
	})
	for i, p := range proofs {
		if !needed[i] {
			t.Errorf("no block of %s needs the proof about %q", p.page, p.has)
		}
		if p.by != "" {
			requireExecutor(t, p.by)
		}
	}
	t.Log(counts)
}

// requireExecutor requires that the test or make target exists.
func requireExecutor(t *testing.T, replacement string) {
	t.Helper()
	file, name, isTest := strings.Cut(replacement, ":")
	pattern := `(?m)^func ` + name + `\(`
	if !isTest {
		file, pattern = "Makefile", `(?m)^`+strings.TrimPrefix(replacement, "make ")+`( [a-z-]+)*:|(?m)^[a-z-]+ `+
			strings.TrimPrefix(replacement, "make ")+`:`
	}
	text, err := os.ReadFile(filepath.Join("../../..", file))
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(pattern), string(text), replacement)
}

// onStage returns a function that runs a block in a shell on a copy of the stage, after the lines before. replaced
// lists pairs of old and new texts for the block.
func onStage(before string, replaced ...string) func(*testing.T, *stage, block) {
	return func(t *testing.T, s *stage, b block) {
		output, code := s.copied(t).shell("yamlhost stack select dev\n" + before + "\n" + strings.NewReplacer(replaced...).Replace(b.text))
		require.Zero(t, code, output)
	}
}

// checked returns a function that writes a block into a project and requires a check without findings. before and after
// complete the block to a program; files lists the names and texts of further files.
func checked(before, after string, files ...string) func(*testing.T, *stage, block) {
	return func(t *testing.T, s *stage, b block) {
		p := s.empty(t)
		p.write(t, "Pulumi.yaml", before+b.text+after)
		for i := 0; i < len(files); i += 2 {
			p.write(t, files[i], files[i+1])
		}
		schema, err := filepath.Abs("testdata/pages/aws.json")
		require.NoError(t, err)
		output, code := p.shell("yamlhost check --schema " + schema)
		require.Zero(t, code, output)
		require.Equal(t, "0 errors, 0 warnings\n", output)
	}
}
