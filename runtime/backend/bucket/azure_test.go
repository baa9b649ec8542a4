//go:build !lean

package bucket

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// fakeAzure is a server with the part of Azure Blob Storage that the client uses: uploads with conditions on ETags,
// reads, lists and deletes.
type fakeAzure struct {
	mu      sync.Mutex
	version int
	blobs   map[string]azureBlob
}

type azureBlob struct {
	data    []byte
	tag     string
	updated time.Time
}

func (f *fakeAzure) refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("x-ms-error-code", text)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>", text, text)
}

type azureList struct {
	XMLName xml.Name `xml:"EnumerationResults"`
	Blobs   struct {
		Blob []struct {
			Name       string
			Properties struct {
				LastModified  string `xml:"Last-Modified"`
				Etag          string
				ContentLength int `xml:"Content-Length"`
				BlobType      string
			}
		}
		BlobPrefix []struct{ Name string }
	}
	NextMarker string
}

func (f *fakeAzure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/account") // emulators have the account in the path
	name, inPail := strings.CutPrefix(path, "/pail/")
	old, exists := f.blobs[name]
	w.Header().Set("x-ms-version", "2025-01-05")
	switch q := r.URL.Query(); {
	case strings.HasPrefix(path, "/bowl"):
		f.refuse(w, http.StatusNotFound, "ContainerNotFound")
	case q.Get("comp") == "list":
		var list azureList
		names, prefixes := listed(f.blobs, q.Get("prefix"), q.Get("delimiter"))
		for _, name := range names {
			b := f.blobs[name]
			list.Blobs.Blob = append(list.Blobs.Blob, struct {
				Name       string
				Properties struct {
					LastModified  string `xml:"Last-Modified"`
					Etag          string
					ContentLength int `xml:"Content-Length"`
					BlobType      string
				}
			}{Name: name})
			p := &list.Blobs.Blob[len(list.Blobs.Blob)-1].Properties
			p.LastModified, p.Etag, p.ContentLength, p.BlobType = b.updated.UTC().Format(http.TimeFormat), b.tag, len(b.data),
				"BlockBlob"
		}
		for _, p := range prefixes {
			list.Blobs.BlobPrefix = append(list.Blobs.BlobPrefix, struct{ Name string }{p})
		}
		w.Header().Set("Content-Type", "application/xml")
		_ = xml.NewEncoder(w).Encode(list)
	case !inPail:
		f.refuse(w, http.StatusBadRequest, "InvalidUri")
	case r.Method == http.MethodPut:
		data, _ := io.ReadAll(r.Body)
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		switch {
		case none == "*" && exists:
			f.refuse(w, http.StatusConflict, "BlobAlreadyExists")
			return
		case match != "" && (!exists || match != old.tag):
			f.refuse(w, http.StatusPreconditionFailed, "ConditionNotMet")
			return
		}
		f.version++
		b := azureBlob{data, fmt.Sprintf("\"0x%08X\"", f.version), time.Now()}
		f.blobs[name] = b
		w.Header().Set("ETag", b.tag)
		w.Header().Set("Last-Modified", b.updated.UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusCreated)
	case !exists:
		f.refuse(w, http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodDelete:
		delete(f.blobs, name)
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("ETag", old.tag)
		w.Header().Set("Last-Modified", old.updated.UTC().Format(http.TimeFormat))
		w.Header().Set("x-ms-blob-type", "BlockBlob")
		w.Header().Set("Content-Length", fmt.Sprint(len(old.data)))
		_, _ = w.Write(old.data)
	}
}

// TestAzure tests the store and its client against a fake server. TestAzurite uses an emulator.
func TestAzure(t *testing.T) { // F6.1
	server := httptest.NewServer(&fakeAzure{blobs: map[string]azureBlob{}})
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("key")))
	parameters := "?protocol=http&localemu=true&domain=" + server.Listener.Addr().String()
	contract(t, "azblob", parameters)
}

// Without credentials, the library lists all sources that it has asked; what the service says about credentials that
// there are stays.
func TestAzureWithoutCredentials(t *testing.T) {
	t.Parallel()
	s := &Store{native: &azureStore{}}
	const head = "DefaultAzureCredential: failed to acquire a token.\nAttempted credentials:\n\tEnvironmentCredential: "
	err := s.explain(errors.New(head + "missing environment variable AZURE_TENANT_ID"))
	require.ErrorIs(t, err, backend.ErrUnprepared)
	require.EqualError(t, err, "the store cannot be asked: there are no credentials for it: set AZURE_STORAGE_KEY or "+
		"AZURE_STORAGE_SAS_TOKEN, or log in by `az login`")
	require.EqualError(t, s.explain(errors.New(head+"RESPONSE 401\n\tAADSTS7000215: Invalid client secret.\n\t----")),
		"AADSTS7000215: Invalid client secret.")
}
