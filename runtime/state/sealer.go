package state

import "github.com/yamlhost/yamlhost/runtime/secrets"

// Sealer seals and opens what is secret in a snapshot: the stack's secrets manager, under the name by which those know
// it who keep snapshots and have no other business with secrets.
type Sealer = secrets.Manager
