//go:build linux && !lean

package kill

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"net"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
)

var (
	azuritePath = flag.String("azurite", "", "the program azurite-blob, Azure's emulator of its blobs")
	azureKills  = flag.Int("azure-kills", 20, "how many kills on Azure's emulator")
	azureRaces  = flag.Int("azure-races", 40, "how many races on Azure's emulator")
	azurePauses = flag.Int("azure-pauses", 6, "how many runs on Azure's emulator to stop and let go on")
)

// azureKey is the key of the emulator's account. All tests share it because the library reads it once.
var azureKey = base64.StdEncoding.EncodeToString([]byte("key"))

// emulator is Azure's blob emulator in a separate process that tests can suspend.
type emulator struct {
	server
	pail *container.Client
}

func newEmulator(t *testing.T) *emulator {
	t.Helper()
	if *azuritePath == "" {
		t.Skip("needs Azure's emulator: make store-test installs it and says where")
	}
	e := &emulator{}
	e.init(t, e.commandLine)
	for name, value := range e.environ() {
		t.Setenv(name, value)
	}
	credential, err := container.NewSharedKeyCredential("account", azureKey)
	require.NoError(t, err)
	e.pail, err = container.NewClientWithSharedKeyCredential("http://"+e.address+"/account/pail", credential, nil)
	require.NoError(t, err)
	e.start()
	t.Cleanup(e.stop)
	require.Eventually(t, func() bool {
		_, err := e.pail.Create(context.Background(), nil)
		return err == nil
	}, 5*time.Minute, 100*time.Millisecond, "the emulator does not answer")
	return e
}

func (e *emulator) environ() map[string]string {
	return map[string]string{"AZURE_STORAGE_ACCOUNT": "account", "AZURE_STORAGE_KEY": azureKey}
}

// commandLine returns the command that starts the emulator.
func (e *emulator) commandLine() *exec.Cmd {
	host, port, err := net.SplitHostPort(e.address)
	require.NoError(e.t, err)
	cmd := exec.Command(*azuritePath, "--blobHost", host, "--blobPort", port, "--location", e.dir, "--silent",
		"--skipApiVersionCheck", "--disableProductStyleUrl", "--disableTelemetry")
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS=account:"+azureKey)
	return cmd
}

// bounce suspends the emulator's process for a while. It does not kill the process: the emulator saves its index only
// now and then, so a killed one loses acknowledged writes.
func (e *emulator) bounce(away time.Duration, _ int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	pause(e.process.Process.Pid, away)
}

func (e *emulator) url(prefix string) string {
	return "azblob://pail/" + prefix + "?protocol=http&localemu=true&domain=" + e.address
}

func (e *emulator) open(rawURL string) (backend.Objects, error) {
	return bucket.Open(context.Background(), rawURL, os.LookupEnv)
}

func (e *emulator) read(prefix, key string) []byte {
	response, err := e.pail.NewBlobClient(path.Join(prefix, key)).DownloadStream(context.Background(), nil)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		return nil
	}
	return text.Bytes()
}

func (e *emulator) unsettled(prefix string) (left []string) {
	last := map[string]string{}
	prefix += "/"
	for pages := e.pail.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix}); pages.More(); {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return []string{err.Error()}
		}
		for _, item := range page.Segment.BlobItems { // sorted by name
			switch name := *item.Name; {
			case strings.Contains(name, "/locks/"):
				left = append(left, name)
			case strings.Contains(name, "/journal/"):
				last[path.Dir(name)] = name
			}
		}
	}
	for _, name := range last {
		if !bytes.HasPrefix(e.read("", name), []byte("yhsettled")) {
			left = append(left, name)
		}
	}
	return left
}

// TestStoreKillOnAzure is TestStoreKill on Azure's emulator.
func TestStoreKillOnAzure(t *testing.T) { storeKill(t, newEmulator(t), *azureKills, 0) } // D9

func TestStoreRacesOnAzure(t *testing.T) { storeRaced(t, newEmulator(t), *azureRaces) } // F6.9

func TestStorePausedOnAzure(t *testing.T) { storePaused(t, newEmulator(t), *azurePauses) } // D9

func TestStoreStoppedOnAzure(t *testing.T) { storeStopped(t, newEmulator(t), *storeStops) } // D14

// pause suspends a process for a while.
func pause(pid int, away time.Duration) {
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	time.Sleep(away)
	_ = syscall.Kill(pid, syscall.SIGCONT)
}
