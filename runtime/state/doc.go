// Package state is the model of a stack's state, and Pulumi's JSON for it (rules E6, F5).
//
// Snapshot is a whole stack, Resource one entry of it, Operation an unfinished operation. Encode and Decode write and
// read the deployment JSON, with secrets sealed and opened through a secrets.Manager; Verify checks the rules for every
// snapshot. The package knows nothing of files, providers or programs.
package state
