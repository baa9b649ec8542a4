//go:build !lean

package keyservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	cloud "gocloud.dev/secrets"
	_ "gocloud.dev/secrets/awskms"        // registers awskms://
	_ "gocloud.dev/secrets/azurekeyvault" // registers azurekeyvault://
	_ "gocloud.dev/secrets/gcpkms"        // registers gcpkms://

	"github.com/yamlhost/yamlhost/internal/nohost"
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
			if advice := unprepared(text); advice != "" {
				text = advice
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
	began := time.Now()
	var missing atomic.Pointer[nohost.Error]
	answer, err := question(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(found httptrace.DNSDoneInfo) {
			host := nohost.In(found.Err)
			if host == "" {
				return
			}
			missing.Store(&nohost.Error{Host: host})
			if time.Since(began) >= namePatience {
				cancel() // the libraries would try for much longer
			}
		}}), data)
	if err == nil {
		return answer, nil
	}
	if host := missing.Load(); host != nil && (nohost.In(err) != "" || ctx.Err() != nil) {
		return nil, fmt.Errorf("%s: %w", k.where, host)
	}
	return nil, fmt.Errorf("%s: %s", k.where, k.explain(err))
}

// namePatience is how long a host is asked for whose address is not found.
const namePatience = 3 * time.Second

// unprepared returns what to do about the error of a library that has found no credentials or no region, and "" for
// another error. The libraries define no values for these errors, and list all sources that they have asked.
func unprepared(text string) string {
	switch {
	case strings.Contains(text, "no EC2 IMDS role found"):
		return "there are no credentials for it: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case strings.Contains(text, "failed to acquire a token") && !strings.Contains(text, "AADSTS"):
		return "there are no credentials for it: log in by `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and " +
			"AZURE_CLIENT_SECRET"
	case strings.Contains(text, "could not find default credentials"):
		return "there are no credentials for it: name a file with them in GOOGLE_APPLICATION_CREDENTIALS, or run gcloud " +
			"auth application-default login"
	case strings.Contains(text, "Missing Region"):
		return "its region is not known: set AWS_REGION, or add `?region=` to the URL"
	}
	return ""
}

// explain returns the message of an error, without the library's prefix that names one of its functions.
func (k *keeper) explain(err error) string {
	if k.plain != nil {
		if text := k.plain(err); text != "" {
			return text
		}
	}
	text := err.Error()
	if advice := unprepared(text); advice != "" {
		return advice
	}
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
