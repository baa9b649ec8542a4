// Package backend keeps the files of stacks (rules F6, E6.1–E6.8) in a folder with the layout of the Pulumi CLI, so
// that either tool can work on a stack after the other.
//
// Backend is such a folder; Ref names a stack in it. Load reads a stack without a lock. Begin starts a Session, which
// holds the stack's lock, applies the journal of a crashed run to the state, keeps the journal of the operation and
// writes the state file at its end. The package also reads and writes the small files in the home folder that record
// the selected stack and backend. It never reads the environment: everything comes in through Options.
//
// Instead of in a folder, the files can be in a store of Objects. Then a lease decides which run may write, the journal
// is a chain of objects with one writer, and a run that takes over fences off the one before: lease.go, chain.go,
// lock.go. Or a Service keeps the stacks, and gets each entry of the journal from a local copy: hosted.go, remote.go.
// What the three do differently under a lock is in one place, the implementations of holder.
//
// The .attrs files that the stock host keeps beside each object are not written: nobody needs them (F6.2), and a stale
// one is harmless.
package backend
