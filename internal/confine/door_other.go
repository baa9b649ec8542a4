//go:build !unix

package confine

const withoutWaiting = 0
