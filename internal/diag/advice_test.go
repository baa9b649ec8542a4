package diag

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The advice about findings is one line: the number of fixes, and the codes with an explanation.
func TestAdvice(t *testing.T) {
	t.Parallel()
	fix := []Fix{{Label: "f"}}
	for want, ds := range map[string]Diagnostics{
		"":                                  nil,
		"`yamlhost explain Y210` says more": {{Code: "Y210"}, {Code: "Y210"}, {Code: "Y220", Severity: Warning}},
		"2 fixable with --fix of `yamlhost check`; `yamlhost explain CODE` says more, of Y210, Y204": {
			{Code: "Y210", Fixes: fix}, {Code: "Y204", Fixes: fix}},
		"1 fixable with --fix of `yamlhost check`": {{Code: "Y220", Severity: Warning, Fixes: fix}},
	} {
		require.Equal(t, want, Advice(ds))
	}
}
