//go:build lean

package keyservice

// The lean edition has HashiCorp Vault only: the openers of the other services are nil, and the error of Open names the
// edition that has them.

func cloudOpeners() (aws, azure, google opener) { return nil, nil, nil }
