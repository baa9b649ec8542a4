// Package backend is where the files of stacks live (rules F6, E6.1–E6.8): a folder on disk in the layout that the
// Pulumi CLI uses, so that either tool can work on a stack after the other.
//
// Backend is such a folder; Ref names a stack in it. Load reads a stack without a lock. Begin starts a Session, which
// holds the stack's lock, brings what a crashed run has journaled into the state, takes the journal of the running
// operation and writes the state file at its end. The package also knows the small files in the home folder that say
// which stack and which backend are selected. It never looks at the environment: everything comes in through Options.
//
// Instead of in a folder, files can live in a store of Objects. Then a lease decides who may write, the journal is a
// chain of objects that only one can write, and anyone who takes over fences off the one before: lease.go, chain.go,
// lock.go.
//
// The .attrs files that the stock host keeps beside each object are not written: nobody needs them (F6.2), and a stale
// one is harmless.
package backend
