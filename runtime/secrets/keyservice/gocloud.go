//go:build !lean

package keyservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	cloud "gocloud.dev/secrets"
	_ "gocloud.dev/secrets/awskms"        // registers awskms://
	_ "gocloud.dev/secrets/azurekeyvault" // registers azurekeyvault://
	_ "gocloud.dev/secrets/gcpkms"        // registers gcpkms://

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// keeper is a key behind gocloud.dev.
type keeper struct {
	keeper *cloud.Keeper
	where  string // the URL without its parameters
	plain  func(error) string
}

// cloudOpeners returns the openers of AWS, Azure and Google Cloud.
func cloudOpeners() (aws, azure, google opener) {
	return openKeeper(nil), openKeeper(plainAzure), openKeeper(plainGoogle)
}

// openKeeper returns an opener of keys behind gocloud.dev. plain converts a service's error to a message for users, and
// returns "" for other errors; it may be nil.
func openKeeper(plain func(error) string) opener {
	return func(url string, _ Options) (secrets.Key, error) {
		where, _, _ := strings.Cut(url, "?")
		k, err := cloud.OpenKeeper(context.Background(), url) // the client outlives this call
		if err != nil {
			_, text, said := strings.Cut(err.Error(), "open keeper "+url+": ") // our message names the URL already
			if !said {
				text = err.Error()
			}
			return nil, fmt.Errorf("open the key %s: %s", where, text)
		}
		return &keeper{k, where, plain}, nil
	}
}

func (k *keeper) Encrypt(plain []byte) ([]byte, error) { return k.ask(k.keeper.Encrypt, plain) }

func (k *keeper) Decrypt(wrapped []byte) ([]byte, error) { return k.ask(k.keeper.Decrypt, wrapped) }

func (k *keeper) ask(question func(context.Context, []byte) ([]byte, error), data []byte) ([]byte, error) {
	ctx, cancel := withPatience()
	defer cancel()
	answer, err := question(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", k.where, k.explain(err))
	}
	return answer, nil
}

// explain returns the message of an error, without the library's prefix that names one of its functions.
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

// plainAzure returns the message in the service's answer. The library's own text has many lines: the request and the
// whole answer.
func plainAzure(err error) string {
	var reply *azcore.ResponseError
	if !errors.As(err, &reply) || reply.RawResponse == nil {
		return ""
	}
	said := fmt.Sprintf("the service answered %d %s", reply.StatusCode, http.StatusText(reply.StatusCode))
	var answer struct{ Error struct{ Message string } }
	// The library leaves a copy of the body that can be read again.
	text, err := io.ReadAll(io.LimitReader(reply.RawResponse.Body, mostOfAnAnswer))
	if err == nil && json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		return said + ": " + answer.Error.Message
	}
	return said
}

// plainGoogle returns the code and the description of a gRPC status.
func plainGoogle(err error) string {
	_, status, found := strings.Cut(err.Error(), "rpc error: code = ")
	code, text, described := strings.Cut(status, " desc = ")
	if !found || !described {
		return ""
	}
	return code + ": " + text
}
