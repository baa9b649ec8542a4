package bucket

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// kind is a kind of store.
type kind struct {
	scheme string
	name   string // of the service
	open   opener
}

// opener opens the store of a URL.
type opener func(ctx context.Context, u *url.URL, lookup Lookup) (backend.Objects, error)

// Lookup returns an environment variable and whether it is set. A nil Lookup finds none.
type Lookup func(name string) (string, bool)

// kinds returns the kinds of stores, in the order of messages. Their openers are nil in the lean edition.
func kinds() []kind {
	s3, gs, azure := openers()
	return []kind{
		{"s3", "Amazon S3 and compatible stores", s3},
		{"gs", "Google Cloud Storage", gs},
		{"azblob", "Azure Blob Storage", azure},
	}
}

// Known returns the schemes that this build can open.
func Known() (schemes []string) {
	for _, k := range kinds() {
		if k.open != nil {
			schemes = append(schemes, k.scheme)
		}
	}
	return schemes
}

// Open opens the store of a URL: the host names the bucket, and the path is a prefix of all keys (F6.1). It sends no
// request to the store yet. lookup supplies only the variables that name emulators; the client libraries find
// credentials by themselves. A URL that this build cannot open gives a *backend.UnsupportedURLError.
func Open(ctx context.Context, rawURL string, lookup Lookup) (backend.Objects, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the backend %q is malformed: it is not a URL; %s", rawURL, backend.AnotherBackend)
	}
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.scheme == u.Scheme })
	if i < 0 {
		return nil, &backend.UnsupportedURLError{URL: rawURL, Way: "state can be kept in file://~, file:///some/folder, " +
			"s3://bucket, gs://bucket, azblob://container or postgres://host/database"}
	}
	k := all[i]
	if k.open == nil {
		return nil, &backend.UnsupportedURLError{URL: rawURL,
			Way: fmt.Sprintf("this is the lean edition, which keeps state in folders "+
				"only. Install the default edition, which has %s: its archives are named without \"lean\", "+
				"and `make build` builds it", k.name)}
	}
	if u.Host == "" {
		return nil, fmt.Errorf("the backend %q names no bucket; it should look like %s://bucket", rawURL, k.scheme)
	}
	objects, err := k.open(ctx, u, lookup)
	if err != nil {
		return nil, fmt.Errorf("open the backend %s://%s: %w", k.scheme, u.Host, err)
	}
	return objects, nil
}
