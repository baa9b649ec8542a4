package view

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
)

// A change never looks like none: either the two sides that are shown differ, or a word tells that they do, although
// secrets and the ends of long values are hidden.
func TestChangesLookLikeChanges(t *testing.T) {
	t.Parallel()
	m := mask.New(value.String("opensesame").Secret(), value.String("hunter2hunter2").Secret())
	forms := map[string]func(secret string) value.Value{
		"line":   func(s string) value.Value { return value.String("echo " + s) },
		"lines":  func(s string) value.Value { return value.String("first\necho " + s + "\nlast") },
		"json":   func(s string) value.Value { return value.String(`{"run": "echo ` + s + `"}`) },
		"yaml":   func(s string) value.Value { return value.String("run: echo " + s + "\nuser: me\n") },
		"list":   func(s string) value.Value { return value.List(value.String(s), value.Int(1)) },
		"secret": func(s string) value.Value { return value.String(s).Secret() },
		"inside": func(s string) value.Value { return value.List(value.String(s).Secret()) },
		"long":   func(s string) value.Value { return value.String(strings.Repeat("long ", 40) + s) },
		"large":  func(s string) value.Value { return value.String(strings.Repeat("a line\n", 1<<14) + s) },
	}
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom([]string{"line", "lines", "json", "yaml", "list", "secret", "inside", "long",
			"large"}).Draw(t, "form")
		secrets := []string{"opensesame", "hunter2hunter2", "plain", "clear"}
		before := rapid.SampledFrom(secrets).Draw(t, "before")
		after := rapid.SampledFrom(secrets).Filter(func(s string) bool { return s != before }).Draw(t, "after")
		l := change.Property{Path: "p", Kind: change.Updated, Before: forms[form](before), After: forms[form](after),
			Hidden: rapid.Bool().Draw(t, "hideDiffs")}
		c := changeWriter{mask: m}
		lines := c.change(&l)
		require.NotEmpty(t, lines)
		tells := false
		for _, line := range lines {
			from, to, both := strings.Cut(line, " => ")
			if _, value, found := strings.Cut(from, ": "); both && found {
				require.NotEqual(t, value, to, lines)
			}
			trimmed := strings.TrimSpace(line)
			tells = tells || both || strings.Contains(line, "(changed)") || strings.HasPrefix(trimmed, "+ ") ||
				strings.HasPrefix(trimmed, "- ")
		}
		require.True(t, tells, lines)
	})
}
