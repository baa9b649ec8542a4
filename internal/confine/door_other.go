//go:build !unix

package confine

const withoutWaiting = 0

// wildcards are the characters that make a path a pattern; on Windows \ separates.
const wildcards = `*?[`
