package fleet

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

func graphOf(n int, edges ...[2]int) *projects.Graph {
	g := &projects.Graph{}
	for range n {
		g.Members = append(g.Members, &projects.Member{})
	}
	for _, e := range edges {
		g.Edges = append(g.Edges, projects.Edge{From: e[0], To: e[1]})
	}
	return g
}

// begin starts all stacks that can start now, and returns them.
func begin(s *schedule) (started []int) {
	for {
		i, ok := s.start()
		if !ok {
			return started
		}
		started = append(started, i)
	}
}

func TestScheduleGoesByNeedsAndLimits(t *testing.T) {
	t.Parallel()
	// Stack 3 needs 1 and 2, and 4 needs 3; 0 needs nothing and nothing needs it.
	s := newSchedule(graphOf(5, [2]int{3, 1}, [2]int{3, 2}, [2]int{4, 3}), Limits{All: 2})
	require.Equal(t, []int{1, 2}, begin(s), "stacks with the longest chains of dependants start first")
	require.Empty(t, s.end(1, true))
	require.Equal(t, []int{0}, begin(s))
	require.Empty(t, s.end(2, true))
	require.Equal(t, []int{3}, begin(s))
	require.Empty(t, s.end(0, true))
	require.Empty(t, begin(s))
	require.Empty(t, s.end(3, true))
	require.Equal(t, []int{4}, begin(s))
}

func TestScheduleSkipsDependentsOnly(t *testing.T) {
	t.Parallel()
	s := newSchedule(graphOf(5, [2]int{1, 0}, [2]int{2, 1}, [2]int{4, 3}), Limits{All: 9})
	require.Equal(t, []int{0, 3}, begin(s))
	require.Equal(t, []int{1, 2}, s.end(0, false))
	require.Empty(t, begin(s))
	require.Empty(t, s.end(3, true))
	require.Equal(t, []int{4}, begin(s))
}

func TestScheduleLimitsProviders(t *testing.T) {
	t.Parallel()
	g := graphOf(4)
	g.Members[0].Providers, g.Members[1].Providers = []string{"aws", "tls"}, []string{"aws"}
	g.Members[2].Providers = []string{"tls"}
	limits, err := ParseLimits("3,aws=1", 1)
	require.NoError(t, err)
	s := newSchedule(g, limits)
	require.Equal(t, []int{0, 2, 3}, begin(s))
	s.end(2, true)
	require.Empty(t, begin(s), "aws is taken")
	s.end(0, false)
	require.Equal(t, []int{1}, begin(s))
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	l, err := ParseLimits("aws=2", 4)
	require.NoError(t, err)
	require.Equal(t, Limits{All: 4, Of: map[string]int{"aws": 2}}, l)
	for _, bad := range []string{"0", "x", "aws=", "=2", "8,,", "-1"} {
		_, err := ParseLimits(bad, 4)
		require.ErrorContains(t, err, "--jobs takes", bad)
	}
}
