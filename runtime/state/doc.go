// Package state models a stack's state and reads and writes Pulumi's JSON format for it (rules E6, F5).
//
// Snapshot is the state of a whole stack, Resource one resource in it, Operation an unfinished operation. Encode and
// Decode write and read the deployment JSON and seal and open secrets through a secrets.Manager. Verify checks the
// rules that every snapshot must follow. The package does not depend on files, providers or programs.
package state
