package backend

import "context"

// Waking is a store that tells who waits when a lease may have been given back.
type Waking interface {
	Objects
	// Wakes returns a channel that receives a value when the lease under key has been released. The caller calls stop
	// once to end it. Releases that nobody has received yet count as one.
	Wakes(ctx context.Context, key string) (wakes <-chan struct{}, stop func(), err error)
}

// Wakes returns a channel that receives when the lock of a stack is released, if the store can notify: else, and if
// that fails, the channel is nil, and asking again now and then is the only way. stop is called once.
func (b *files) Wakes(ctx context.Context, r Ref) (wakes <-chan struct{}, stop func()) {
	none := func() {}
	if b.objects == nil {
		return nil, none
	}
	store, ok := b.objects.objects.(Waking)
	if !ok {
		return nil, none
	}
	wakes, stop, err := store.Wakes(ctx, b.leaseOf(r).key())
	if err != nil {
		return nil, none
	}
	return wakes, stop
}
