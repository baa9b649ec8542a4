//go:build !lean

package keyservice

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What libraries say about missing credentials, regions and hosts is said in plain words, and a host that is not found
// ends the question.
func TestUnprepared(t *testing.T) {
	t.Parallel()
	k := &keeper{where: "awskms://alias/x", plain: plainAzure}
	for said, want := range map[string]string{
		"operation error KMS: Encrypt, no EC2 IMDS role found, operation error ec2imds": "set AWS_PROFILE",
		"DefaultAzureCredential: failed to acquire a token.\nAttempted credentials:\n":  "`az login`",
		"google: could not find default credentials. See https://…":                     "gcloud auth",
		"Invalid Configuration: Missing Region":                                         "`?region=`",
	} {
		_, err := k.ask(func(context.Context, []byte) ([]byte, error) { return nil, errors.New(said) }, nil)
		require.ErrorContains(t, err, "awskms://alias/x: ")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	missing := &net.DNSError{Err: "no such host", Name: "v.invalid", IsNotFound: true}
	_, err := k.ask(func(ctx context.Context, _ []byte) ([]byte, error) {
		httptrace.ContextClientTrace(ctx).DNSDone(httptrace.DNSDoneInfo{Err: missing})
		require.NoError(t, ctx.Err(), "it may be found the next time")
		return nil, missing
	}, nil)
	require.EqualError(t, err,
		"awskms://alias/x: the host v.invalid is not found: there is no network, or the name is wrong")
}

// A host that is not found for namePatience is not asked for any longer.
func TestUnpreparedEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{where: "key"}
		began := time.Now()
		_, err := k.ask(func(ctx context.Context, _ []byte) ([]byte, error) {
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				httptrace.ContextClientTrace(ctx).DNSDone(httptrace.DNSDoneInfo{
					Err: &net.DNSError{Err: "no such host", Name: "v.invalid", IsNotFound: true}})
			}
			return nil, ctx.Err()
		}, nil)
		require.ErrorContains(t, err, "the host v.invalid is not found")
		require.Equal(t, namePatience, time.Since(began))
	})
}
