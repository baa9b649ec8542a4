//go:build !lean

package keyservice

import (
	"context"
	"fmt"
	"strings"

	cloud "gocloud.dev/secrets"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// keeper is a key behind gocloud.dev.
type keeper struct {
	keeper *cloud.Keeper
	where  string // the URL without its parameters
	plain  func(error) string
}

// openKeeper returns an opener of keys behind gocloud.dev. plain rewords a service's error for users, and returns ""
// for errors that are not the service's; it may be nil.
func openKeeper(plain func(error) string) opener {
	return func(url string, _ Options) (secrets.Key, error) {
		where, _, _ := strings.Cut(url, "?")
		k, err := cloud.OpenKeeper(context.Background(), url) // what is behind it outlives the opening
		if err != nil {
			_, text, said := strings.Cut(err.Error(), "open keeper "+url+": ") // it would be said twice
			if !said {
				text = err.Error()
			}
			return nil, fmt.Errorf("open the key %s: %s", where, text)
		}
		return &keeper{k, where, plain}, nil
	}
}

func (k *keeper) Encrypt(plain []byte) ([]byte, error) {
	ctx, cancel := withPatience()
	defer cancel()
	wrapped, err := k.keeper.Encrypt(ctx, plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", k.where, k.explain(err))
	}
	return wrapped, nil
}

func (k *keeper) Decrypt(wrapped []byte) ([]byte, error) {
	ctx, cancel := withPatience()
	defer cancel()
	plain, err := k.keeper.Decrypt(ctx, wrapped)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", k.where, k.explain(err))
	}
	return plain, nil
}

// explain leaves out the first part of an error of the library, which says in which of its functions it arose.
func (k *keeper) explain(err error) string {
	if k.plain != nil {
		if text := k.plain(err); text != "" {
			return text
		}
	}
	text := err.Error()
	if _, rest, found := strings.Cut(text, "): "); found && strings.HasPrefix(text, "secrets (") {
		return rest
	}
	return text
}
