package postgres

import "strings"

// Scheme is the scheme of database URLs.
const Scheme = "postgres"

// Lookup returns an environment variable, and whether it is set; nil has none.
type Lookup func(name string) (string, bool)

// Handles reports whether a URL is one of a database, with the scheme of the Pulumi CLI or the other one of libpq.
func Handles(rawURL string) bool {
	return strings.HasPrefix(rawURL, Scheme+"://") || strings.HasPrefix(rawURL, "postgresql://")
}
