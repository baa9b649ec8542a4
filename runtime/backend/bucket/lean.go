//go:build lean

package bucket

// The lean edition has no stores: their openers are nil, and the error of Open names the edition that has them.

func openers() (s3, gs, azure opener) { return nil, nil, nil }
