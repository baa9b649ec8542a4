package eval

import (
	"container/heap"
	"context"
	"sync"

	"github.com/yamlhost/yamlhost/check"
)

// schedule runs nodes with a number of workers, each node after its dependencies, ready ones in the order of the
// program (L9.11). It returns when all have run. Failed nodes count as run; their dependants handle the failure.
func schedule(ctx context.Context, nodes []*check.Node, workers int, run func(context.Context, *check.Node)) {
	if workers <= 1 {
		for _, n := range nodes {
			run(ctx, n)
		}
		return
	}
	q := newQueue(nodes)
	var wg sync.WaitGroup
	for range min(workers, len(nodes)) {
		wg.Go(func() {
			for {
				n := q.take()
				if n == nil {
					return
				}
				run(ctx, n)
				q.done(n)
			}
		})
	}
	wg.Wait()
}

// queue hands out ready nodes.
type queue struct {
	mu      sync.Mutex // guards the rest
	changed *sync.Cond
	ready   nodeHeap
	left    int                           // nodes that have not been done
	waiting map[*check.Node]int           // how many needs a node still waits for
	users   map[*check.Node][]*check.Node // the nodes that wait for a node
}

func newQueue(nodes []*check.Node) *queue {
	q := &queue{left: len(nodes), waiting: make(map[*check.Node]int, len(nodes)),
		users: make(map[*check.Node][]*check.Node, len(nodes))}
	q.changed = sync.NewCond(&q.mu)
	among := make(map[*check.Node]bool, len(nodes))
	for _, n := range nodes {
		among[n] = true
	}
	for _, n := range nodes {
		for _, edge := range n.Needs {
			// A dependency outside of nodes has run before. The others precede their dependants in the program's order,
			// so there is no cycle.
			if among[edge.To] && edge.To != n && !edge.Deferred {
				q.waiting[n]++
				q.users[edge.To] = append(q.users[edge.To], n)
			}
		}
		if q.waiting[n] == 0 {
			q.ready = append(q.ready, n)
		}
	}
	heap.Init(&q.ready)
	return q
}

// take waits for a ready node; it returns nil once no more will come.
func (q *queue) take() *check.Node {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ready) == 0 && q.left > 0 {
		q.changed.Wait()
	}
	if len(q.ready) == 0 {
		return nil
	}
	return heap.Pop(&q.ready).(*check.Node)
}

func (q *queue) done(n *check.Node) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left--
	freed := 0
	for _, user := range q.users[n] {
		if q.waiting[user]--; q.waiting[user] == 0 {
			heap.Push(&q.ready, user)
			freed++
		}
	}
	switch {
	case q.left == 0 || freed > 2:
		q.changed.Broadcast()
	default:
		for range freed {
			q.changed.Signal()
		}
	}
}

// nodeHeap orders nodes by their index in the program.
type nodeHeap []*check.Node

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].Index < h[j].Index }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)        { *h = append(*h, x.(*check.Node)) }
func (h *nodeHeap) Pop() any {
	old := *h
	n := old[len(old)-1]
	*h = old[:len(old)-1]
	return n
}
