package check_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// An item that is put into a list of a right program is one fault or none.
func TestInsertedItems(t *testing.T) {
	t.Parallel()
	items := []string{"{zz: 1}", "[zz]", "zz", "5", "null", "zz: 1"}
	line := regexp.MustCompile(`(?m)^( *)- `)
	flow := regexp.MustCompile(`(?m)(: |- )\[`)
	cases, several := 0, 0
	for _, p := range samplePrograms(t) {
		l := sampleLoader()
		said := map[string]int{}
		before := findings(t, p.text, l)
		if before.HasErrors() {
			continue
		}
		for _, d := range before {
			said[string(d.Code)+d.Summary]++
		}
		judge := func(text, item string, at int) {
			cases++
			if fresh := newFindings(findings(t, text, l), said); len(fresh) > 1 {
				several++
				var b strings.Builder
				require.NoError(t, diag.WriteText(&b, fresh, diag.TextOptions{}))
				t.Logf("INSERTED %s/%s %q at %d: %d findings\n%s", p.provider, p.name, item, at, len(fresh), b.String())
			}
		}
		for _, m := range line.FindAllStringSubmatchIndex(p.text, -1) {
			for _, item := range items {
				judge(p.text[:m[0]]+p.text[m[2]:m[3]]+"- "+item+"\n"+p.text[m[0]:], item, m[0])
			}
		}
		for _, m := range flow.FindAllStringIndex(p.text, -1) {
			for _, item := range items[:len(items)-1] {
				judge(p.text[:m[1]]+item+", "+p.text[m[1]:], item, m[0])
			}
		}
	}
	t.Logf("%d cases, %d with several findings", cases, several)
	require.Zero(t, several)
}
