package keyservice

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Options are the settings for opening a key.
type Options struct {
	Lookup func(name string) (string, bool) // environment variables; nil for none
	Client *http.Client                     // for services that speak plain HTTP; nil for the usual one
}

// patience is the time limit for one call of a service.
const patience = 30 * time.Second

// opener opens the key of a URL.
type opener func(url string, o Options) (secrets.Key, error)

type kind struct {
	scheme string
	name   string // of the service
	open   opener // nil in the lean edition
}

func kinds() []kind {
	aws, azure, google := cloudOpeners()
	return []kind{
		{"awskms", "the key service of AWS", aws},
		{"azurekeyvault", "Azure Key Vault", azure},
		{"gcpkms", "the key service of Google Cloud", google},
		{"hashivault", "HashiCorp Vault", openVault},
	}
}

// Known returns the URL schemes that this build supports.
func Known() (schemes []string) {
	for _, k := range kinds() {
		if k.open != nil {
			schemes = append(schemes, k.scheme)
		}
	}
	return schemes
}

// Open opens a key by its URL, without calling the service.
func Open(url string, o Options) (secrets.Key, error) {
	scheme, _, found := strings.Cut(url, "://")
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.scheme == scheme })
	switch {
	case !found || i < 0:
		return nil, fmt.Errorf(
			"the secrets provider %q is not known: expected passphrase, or the URL of a key as in awskms://, "+
				"azurekeyvault://, gcpkms:// or hashivault://", url)
	case all[i].open == nil:
		return nil, fmt.Errorf(
			"the secrets provider %q is not supported by this build: this is the lean edition. Install the default "+
				"edition, which has %s: its archives are named without \"lean\", "+
				"and `make build` builds it", url, all[i].name)
	}
	return all[i].open(url, o)
}

// withPatience returns a context for one call. It has no parent, because secrets.Manager takes no context.
func withPatience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}
