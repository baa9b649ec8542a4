//go:build lean

package keyservice

// The lean edition has HashiCorp Vault only: the openers of the other services are nil, and Open says which edition has
// them.

func cloudOpeners() (aws, azure, google opener) { return nil, nil, nil }
