package phrasebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWords(t *testing.T) {
	t.Parallel()
	meant, advice := Key("message", []string{"when", "violation"})
	require.Equal(t, "violation", meant)
	require.Equal(t, "`message` is of Open Policy Agent: write `violation`", advice)
	meant, advice = Key("depends_on", []string{"type", "properties"})
	require.Empty(t, meant, "the level differs too")
	require.Contains(t, advice, "dependsOn")
	_, advice = Key("sensitive", []string{"type", "properties"})
	require.Contains(t, advice, "additionalSecretOutputs")
	_, advice = Key("sensitive", []string{"type", "secret"})
	require.Contains(t, advice, "secret: true")
	_, advice = Key("when", []string{"type", "if", "properties"})
	require.Contains(t, advice, "Ansible")
	_, advice = Key("message", []string{"other"})
	require.Empty(t, advice)
	require.Contains(t, Root("var"), "`var` is of Terraform")
	require.Contains(t, Root("range"), "`${each.value}`", "in examples of registries that were converted from Terraform")
	require.Contains(t, Function("JSONENCODE"), "toJSON")
	require.Equal(t, "`toLowerCase` is of JavaScript: write `lower(a.b)`", Member("toLowerCase", "a.b"))
	require.Empty(t, Member("name", "a"))
}

// Each word stands once in the table of its tool, with an advice that is a sentence of its own.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, tool := range tools {
		seen := map[string]bool{}
		for _, w := range tool.words {
			id := string(rune('0'+w.kind)) + w.foreign + " " + w.meant
			require.False(t, seen[id], "%s: %s", tool.name, w.foreign)
			seen[id] = true
			require.NotEmpty(t, w.advice, w.foreign)
			require.Equal(t, w.kind == key, w.meant != "", "%s: only keys have a key of the same meaning", w.foreign)
			require.False(t, strings.HasSuffix(w.advice, "."), w.foreign)
			require.Equal(t, w.kind == member, strings.Contains(w.advice, "%s") || w.kind == member, w.foreign)
		}
	}
}
