package backend

// What belongs to one stack, apart from its state. The history needs the shelf alone. Locks and journal need the
// backend: whoever takes a lock goes on with a fenced view of it.
type (
	// stackLocks takes, finds and gives back the locks of a stack: files in a folder, and the lease in a store.
	stackLocks struct {
		*Backend
		ref Ref
	}
	// stackJournal finds what runs have left in the journal of a stack, and brings it into the state: a file in a folder,
	// chains of objects in a store.
	stackJournal struct {
		*Backend
		ref Ref
	}
	// stackHistory keeps the records, checkpoints, backups and tags of a stack.
	stackHistory struct {
		*shelf
		ref Ref
	}
)

func (b *Backend) locksOf(r Ref) stackLocks { return stackLocks{b, r} }

func (b *Backend) journalOf(r Ref) stackJournal { return stackJournal{b, r} }

func (b *Backend) historyOf(r Ref) stackHistory { return stackHistory{&b.shelf, r} }
