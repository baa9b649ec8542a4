//go:build lean

package bucket

// The lean edition has no stores: their openers are nil, and Open says which edition has them.

func openers() (s3, gs, azure opener) { return nil, nil, nil }
