package engine

// What an operation does beside its registrations. Each is a view of the operation with methods of its own; none keeps
// anything.
type (
	// importer takes objects that exist into the state, without a program.
	importer struct{ *Deployment }
	// refresher reads resources and writes what was found.
	refresher struct{ *Deployment }
	// retainer keeps what is not targeted as it is, with what it needs.
	retainer struct{ *Deployment }
	// pendingCreations are those that an earlier operation left open, and what becomes of them.
	pendingCreations struct{ *Deployment }
)

func importerOf(d *Deployment) importer        { return importer{d} }
func refresherOf(d *Deployment) refresher      { return refresher{d} }
func retainerOf(d *Deployment) retainer        { return retainer{d} }
func pendingOf(d *Deployment) pendingCreations { return pendingCreations{d} }
