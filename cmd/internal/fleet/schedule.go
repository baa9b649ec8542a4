package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Limits bounds how many stacks are worked on at the same time.
type Limits struct {
	All int            // limit for all stacks; at least 1
	Of  map[string]int // limits for the stacks using a provider, by package; no entry means no limit
}

// ParseLimits parses a list N,PACKAGE=N,… such as 8,aws=2. Without a number for all stacks, their limit is all.
func ParseLimits(text string, all int) (Limits, error) {
	l := Limits{All: all, Of: map[string]int{}}
	if text == "" {
		return l, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, named := strings.Cut(part, "=")
		if !named {
			name, number = "", part
		}
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || named && name == "" {
			return l, fmt.Errorf("--jobs takes numbers from 1, such as 8 or 8,aws=2, not %q", text)
		}
		if named {
			l.Of[strings.TrimSpace(name)] = n
		} else {
			l.All = n
		}
	}
	return l, nil
}

// A stage is the progress of a stack.
type stage uint8

const (
	waiting stage = iota
	running
	finished // successfully
	failed
	skipped // a dependency has failed or was skipped
)

// A schedule decides which stack is started next. It must be used by one goroutine only.
type schedule struct {
	limits    Limits
	needs     [][]int
	users     [][]int
	providers [][]string
	rank      []int // length of the longest chain of dependants; the highest rank starts first
	stages    []stage
	busy      int
	using     map[string]int // running stacks, by package of their providers
}

func newSchedule(g *projects.Graph, limits Limits) *schedule {
	n := len(g.Members)
	s := &schedule{limits: limits, needs: make([][]int, n), users: make([][]int, n), providers: make([][]string, n),
		rank: make([]int, n), stages: make([]stage, n), using: map[string]int{}}
	for i, m := range g.Members {
		s.needs[i], s.providers[i] = g.Needs(i), m.Providers
		for _, need := range s.needs[i] {
			s.users[need] = append(s.users[need], i)
		}
	}
	order := g.Order()
	slices.Reverse(order)
	for _, i := range order {
		for _, user := range s.users[i] {
			s.rank[i] = max(s.rank[i], s.rank[user]+1)
		}
	}
	return s
}

// start returns a stack to start now and marks it as running. It returns false if none can be started until another one
// ends.
func (s *schedule) start() (int, bool) {
	best := -1
	for i := range s.stages {
		if s.stages[i] == waiting && s.free(i) && (best < 0 || s.rank[i] > s.rank[best]) {
			best = i
		}
	}
	if best < 0 || s.busy >= s.limits.All {
		return 0, false
	}
	s.stages[best] = running
	s.busy++
	for _, name := range s.providers[best] {
		s.using[name]++
	}
	return best, true
}

// free reports whether the dependencies of a stack are finished and its providers have not reached their limits.
func (s *schedule) free(i int) bool {
	for _, need := range s.needs[i] {
		if s.stages[need] != finished {
			return false
		}
	}
	for _, name := range s.providers[i] {
		if limit, limited := s.limits.Of[name]; limited && s.using[name] >= limit {
			return false
		}
	}
	return true
}

// end records how a stack has ended, and returns the stacks that are skipped because of it, in ascending order.
func (s *schedule) end(i int, well bool) (lost []int) {
	s.busy--
	for _, name := range s.providers[i] {
		s.using[name]--
	}
	if well {
		s.stages[i] = finished
		return nil
	}
	s.stages[i] = failed
	queue := slices.Clone(s.users[i])
	for len(queue) > 0 {
		user := queue[0]
		queue = queue[1:]
		if s.stages[user] == waiting {
			s.stages[user] = skipped
			lost = append(lost, user)
			queue = append(queue, s.users[user]...)
		}
	}
	slices.Sort(lost)
	return lost
}

// pass marks a stack as finished without work.
func (s *schedule) pass(i int) { s.stages[i] = finished }
