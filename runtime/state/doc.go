// Package state is the model of a stack's state, and Pulumi's JSON for it (rules E6, F5).
//
// Snapshot is a whole stack, Resource one entry of it, Operation something that was begun and not finished. Encode and
// Decode are the deployment JSON, with secrets sealed and opened through a secrets.Manager; Verify checks what must
// hold of every snapshot. The package knows nothing of files, providers or programs.
package state
