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

// proof says how it is shown that a block of a page is right. One of the last three is set.
type proof struct {
	page string // from the root of the repository
	has  string // what the block's kind and text contain; empty for all that no proof before this one is about
	// by names what executes it: a test as FILE:NAME, or a target of make that writes it.
	by   string
	why  string // why it cannot be executed
	show func(*testing.T, *stage, block)
}

func (p *proof) about(page string, b block) bool {
	return p.page == page && strings.Contains(b.kind+"\n"+b.text, p.has)
}

// TestBlocksOfPages holds every block of code on every page to a proof that it is right: it is executed here, or by
// another test, or the table below says why it cannot be. It prints how many there are of each.
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

// requireExecutor holds what is named to exist.
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

// onStage has a shell run a block on the stage, after other lines. Pairs of texts in it are replaced first.
func onStage(before string, replaced ...string) func(*testing.T, *stage, block) {
	return func(t *testing.T, s *stage, b block) {
		output, code := s.copied(t).shell("yamlhost stack select dev\n" + before + "\n" + strings.NewReplacer(replaced...).Replace(b.text))
		require.Zero(t, code, output)
	}
}

// checked writes a block into a project and requires a check without findings. before and after complete the block to
// a program; files are further files, by name.
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
