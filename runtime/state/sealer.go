package state

import "github.com/yamlhost/yamlhost/runtime/secrets"

// Sealer is a stack's secrets manager, for code that keeps snapshots and has no other use for secrets.
type Sealer = secrets.Manager
