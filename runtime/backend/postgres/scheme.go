package postgres

import "strings"

// Scheme is the scheme of database URLs.
const Scheme = "postgres"

// Lookup returns an environment variable and whether it is set. A nil Lookup finds none.
type Lookup func(name string) (string, bool)

// Handles reports whether a URL has a scheme of databases: postgres, which the Pulumi CLI takes, or libpq's postgresql.
func Handles(rawURL string) bool {
	return strings.HasPrefix(rawURL, Scheme+"://") || strings.HasPrefix(rawURL, "postgresql://")
}
