package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNotEmptySaysHowMany(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"resources; destroy them first, or remove the stack with --force and leave them behind",
		"1 resource; destroy it first, or remove the stack with --force and leave it behind",
		"2 resources; destroy them first, or remove the stack with --force and leave them behind"} {
		require.EqualError(t, &NotEmptyError{Ref{Stack: "dev"}, n}, `the stack "dev" still has `+want)
	}
}
