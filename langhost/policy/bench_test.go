package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
)

// BenchmarkAnalyze applies 50 policies to one resource, which violates none of them.
func BenchmarkAnalyze(b *testing.B) {
	const policies = 50
	kinds := []string{
		"when: '${resource.size > 9}', violation: '${args.name} is too large'",
		"when: '${!contains([\"a\", \"b\"], resource.tags.team)}', violation: 'unknown team ${resource.tags.team}'",
		"violation: '${resource.tags.env == null ? \"no env\" : null}'",
		"violation: '${[for k in [\"env\", \"team\"] : \"no ${k}\" if resource.tags[k] == null]}'",
		"config: {most: {type: integer, default: 9}}, when: '${length(args.name) > config.most}', violation: 'a long name'",
	}
	var text strings.Builder
	for i := range policies {
		fmt.Fprintf(&text, "  p%d: {%s}\n", i, kinds[i%len(kinds)])
	}
	pack, found := open(b, text.String())
	require.NotNil(b, pack, fmt.Sprint(found))
	require.NoError(b, pack.ConfigureStack(b.Context(), analyzer.Stack{Project: "p", Stack: "dev", DryRun: true}))
	r := box("big", props(value.Entry{Key: "size", Value: value.Int(3)}, value.Entry{Key: "tags", Value: props(
		value.Entry{Key: "env", Value: value.String("dev")}, value.Entry{Key: "team", Value: value.String("a")})}))
	b.ReportAllocs()
	for b.Loop() {
		list, err := pack.Analyze(b.Context(), r)
		if err != nil || len(list) > 0 {
			b.Fatal(list, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*policies), "ns/policy")
}
