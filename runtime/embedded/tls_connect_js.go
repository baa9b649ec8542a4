package embedded

import (
	"context"
	"crypto/x509"
	"errors"
)

// fetch fails: no page in a browser sees the certificates of a server, and what connects to one would be half of the
// program that the page loads.
func (certificates) fetch(context.Context, string, bool) ([]*x509.Certificate, error) {
	return nil, errors.New("a page in a browser cannot see the certificates of a server; give content instead of url")
}
