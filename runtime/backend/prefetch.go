package backend

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Deep is a store that can list the objects of many folders in one request.
type Deep interface {
	Objects
	// ListAll lists every object whose key begins with prefix, in order.
	ListAll(ctx context.Context, prefix string) ([]Listed, error)
}

// Bulk is a store that can also read many objects in one request.
type Bulk interface {
	Deep
	// GetAll reads the objects under keys, which are in order. The result lacks objects that do not exist. It may also
	// lack the last ones if all are too much for one request, but never the first.
	GetAll(ctx context.Context, keys []string) (map[string]Object, error)
}

// Prefetch returns a backend for reading all stacks of a project, or of all projects if that is empty. A service is
// asked once for the list of stacks. A store that implements Deep lists its keys once, when Prefetch is called; one
// that implements Bulk reads many states at a time. To any other, the caller best sends the requests for several stacks
// at once.
func (b *Backend) Prefetch(project string) (*Backend, error) {
	if h, ok := b.hosted(); ok {
		return h.listing(project)
	}
	if b.files.objects == nil {
		return b, nil
	}
	store, ok := b.files.objects.objects.(Deep)
	if !ok {
		return b, nil
	}
	g := &prefetched{Deep: store, ahead: map[string]Object{}, begun: map[string]struct{}{}}
	// The journals come before the states: an operation drops its journal after it has written the state.
	folders := []string{keyOf(b.files.path("yamlhost")), keyOf(b.files.path("locks", organization)), keyOf(b.files.path("stacks"))}
	stacks, history := folders[2], keyOf(b.files.path("history"))
	if g.bulk, ok = store.(Bulk); ok { // in a bucket a long history takes many requests, one after the other
		folders = append(folders, history)
	}
	for _, folder := range folders {
		root := path.Join(folder, project) + "/"
		found, err := ask(b.files.objects, func(ctx context.Context) ([]Listed, error) {
			return store.ListAll(ctx, root)
		})
		if err != nil {
			return nil, fileError("list", root, err)
		}
		g.roots, g.keys = append(g.roots, root), append(g.keys, found...)
	}
	slices.SortStableFunc(g.keys, func(x, y Listed) int { return strings.Compare(x.Key, y.Key) })
	if g.bulk != nil {
		g.plan(stacks, history)
	}
	return &Backend{files: b.files.over(g), schedule: b.schedule}, nil
}

// togetherRead is the number of stacks that Each looks at concurrently.
const togetherRead = 64

// Each calls look for each stack, concurrently for several: in a bucket each look takes some requests one after the
// other. It returns when all calls have.
func Each(refs []Ref, look func(i int, ref Ref)) {
	var group errgroup.Group
	group.SetLimit(togetherRead)
	for i, ref := range refs {
		group.Go(func() error { look(i, ref); return nil })
	}
	_ = group.Wait() // no call fails
}

// prefetched is a store that has listed its keys in advance and reads ahead. It is safe for concurrent use.
type prefetched struct {
	Deep
	bulk  Bulk     // nil if the store reads objects one by one
	roots []string // keys has every key that begins with one of them
	keys  []Listed // in order

	wanted [2][]string // states, and the last records of histories, in the order in which they will be asked for

	mu    sync.Mutex
	ahead map[string]Object   // read and not yet asked for
	begun map[string]struct{} // the first keys of what was read
}

// plan fills in wanted.
func (g *prefetched) plan(stacks, history string) {
	for _, k := range g.keys {
		switch {
		case strings.HasPrefix(k.Key, stacks+"/"):
			if _, ok := stackOf(path.Base(k.Key)); ok {
				g.wanted[0] = append(g.wanted[0], k.Key)
			}
		case strings.HasPrefix(k.Key, history+"/") && strings.Contains(path.Base(k.Key), ".history.json"):
			n := len(g.wanted[1])
			if n > 0 && path.Dir(g.wanted[1][n-1]) == path.Dir(k.Key) {
				g.wanted[1][n-1] = k.Key
				continue
			}
			g.wanted[1] = append(g.wanted[1], k.Key)
		}
	}
}

// knows reports whether keys has all keys that begin with key.
func (g *prefetched) knows(key string) bool {
	return slices.ContainsFunc(g.roots, func(root string) bool { return strings.HasPrefix(key, root) })
}

// search returns the index of the first key that is not before key.
func (g *prefetched) search(key string) int {
	i, _ := slices.BinarySearchFunc(g.keys, key, func(l Listed, key string) int { return strings.Compare(l.Key, key) })
	return i
}

// find returns what is listed under a key; nil if there is no such object.
func (g *prefetched) find(key string) *Listed {
	if i := g.search(key); i < len(g.keys) && g.keys[i].Key == key {
		return &g.keys[i]
	}
	return nil
}

// List answers from the keys that are known.
func (g *prefetched) List(ctx context.Context, prefix string) (found []Listed, err error) {
	if !g.knows(prefix) {
		return g.Deep.List(ctx, prefix)
	}
	for _, k := range g.keys[g.search(prefix):] {
		rest, ok := strings.CutPrefix(k.Key, prefix)
		if !ok {
			break
		}
		if folder, _, deeper := strings.Cut(rest, "/"); deeper {
			k.Key = prefix + folder + "/"
		}
		if n := len(found); n == 0 || found[n-1].Key != k.Key {
			found = append(found, k)
		}
	}
	return found, nil
}

// readAhead is the number of objects per request.
const readAhead = 256

// Get reads an object. In a Bulk store the other ones of its block in wanted come along.
func (g *prefetched) Get(ctx context.Context, key string) (Object, error) {
	if g.knows(key) && g.find(key) == nil {
		return Object{}, fs.ErrNotExist
	}
	for _, wanted := range g.wanted {
		if i, ok := slices.BinarySearch(wanted, key); ok {
			return g.getAhead(ctx, wanted, i)
		}
	}
	return g.Deep.Get(ctx, key)
}

// getAhead reads the object with index i of wanted, together with its block.
func (g *prefetched) getAhead(ctx context.Context, wanted []string, i int) (Object, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := wanted[i]
	if o, ok := g.ahead[key]; ok {
		delete(g.ahead, key)
		return o, nil
	}
	first := i - i%readAhead
	if _, begun := g.begun[wanted[first]]; begun { // the answer lacked this object, or it is read again
		first = i
	}
	g.begun[wanted[first]] = struct{}{}
	for ; ; first = i {
		found, err := g.bulk.GetAll(ctx, wanted[first:min(first+readAhead, len(wanted))])
		if err != nil {
			return Object{}, err
		}
		o, ok := found[key]
		delete(found, key)
		maps.Copy(g.ahead, found)
		if ok || first == i {
			if !ok {
				err = fs.ErrNotExist
			}
			return o, err
		}
	}
}
