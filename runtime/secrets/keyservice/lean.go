//go:build lean

package keyservice

// The lean edition supports only HashiCorp Vault. The other openers are nil; the error of Open recommends the default
// edition.

func cloudOpeners() (aws, azure, google opener) { return nil, nil, nil }
