//go:build lean

package bucket

// The lean edition has no stores: their openers are nil, and Open says which edition has them.

func s3Opener() opener { return nil }

func gsOpener() opener { return nil }

func azureOpener() opener { return nil }
