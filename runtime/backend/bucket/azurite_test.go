//go:build !lean

package bucket

import (
	"encoding/base64"
	"flag"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

var azuritePath = flag.String("azurite", "", "the program azurite-blob, Azure's emulator of its blobs")

// TestAzurite is TestAzure against an external process, the emulator of Azure.
func TestAzurite(t *testing.T) { // F6.1
	if *azuritePath == "" {
		t.Skip("needs Azure's emulator: make store-test installs it and says where")
	}
	key := base64.StdEncoding.EncodeToString([]byte("key")) // as in TestAzure: the library reads it once
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command(*azuritePath, "--blobHost", host, "--blobPort", port, "--location", t.TempDir(), "--silent",
		"--skipApiVersionCheck", "--disableProductStyleUrl", "--disableTelemetry")
	server.Env = append(os.Environ(), "AZURITE_ACCOUNTS=account:"+key)
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	credential, err := container.NewSharedKeyCredential("account", key)
	require.NoError(t, err)
	pail, err := container.NewClientWithSharedKeyCredential("http://"+address+"/account/pail", credential, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := pail.Create(t.Context(), nil)
		return err == nil
	}, 5*time.Minute, 100*time.Millisecond, "the emulator does not answer")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", key)
	parameters := "?protocol=http&localemu=true&domain=" + address
	contract(t, "azblob", parameters)
}
