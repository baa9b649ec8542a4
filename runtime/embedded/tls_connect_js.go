package embedded

import (
	"context"
	"crypto/x509"
	"errors"
)

// fetch returns an error: a page in a browser cannot see the certificates of a server. Without fetch the program for
// browsers also omits the large network packages.
func (certificates) fetch(context.Context, string, bool) ([]*x509.Certificate, error) {
	return nil, errors.New("a page in a browser cannot see the certificates of a server; give content instead of url")
}
