//go:build !unix

package supervise

// Main is not needed on this system.
func Main(_, _ []string) int { return 2 }
