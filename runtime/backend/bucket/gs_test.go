//go:build !lean

package bucket

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// fakeGS is a server with the part of Google Cloud Storage that the client uses: uploads with conditions on
// generations, reads, lists and deletes.
type fakeGS struct {
	single  bool // it knows no batches
	batches atomic.Int64

	mu         sync.Mutex
	generation int64
	objects    map[string]gsObject
}

type gsObject struct {
	data       []byte
	generation int64
	updated    time.Time
}

func (f *fakeGS) refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": text}})
}

func (f *fakeGS) resource(name string, o gsObject) map[string]any {
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(o.data, crc32.MakeTable(crc32.Castagnoli)))
	return map[string]any{"crc32c": base64.StdEncoding.EncodeToString(sum), "kind": "storage#object", "bucket": "pail",
		"name": name, "generation": strconv.FormatInt(o.generation, 10),
		"size": strconv.Itoa(len(o.data)), "updated": o.updated.Format(time.RFC3339Nano),
		"timeCreated": o.updated.Format(time.RFC3339Nano)}
}

// batch answers the requests in a batch, which are 100 at most.
func (f *fakeGS) batch(w http.ResponseWriter, r *http.Request) {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := multipart.NewReader(r.Body, params["boundary"])
	var body bytes.Buffer
	answers := multipart.NewWriter(&body)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		var one *http.Request
		if err == nil {
			one, err = http.ReadRequest(bufio.NewReader(part))
		}
		if err != nil || n == 100 || part.Header.Get("Content-Type") != "application/http" {
			f.refuse(w, http.StatusBadRequest, "Failed to parse batch request")
			return
		}
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, one)
		to, _ := answers.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}})
		_ = answer.Result().Write(to)
	}
	_ = answers.Close()
	w.Header().Set("Content-Type", "multipart/mixed; boundary="+answers.Boundary())
	_, _ = w.Write(body.Bytes())
}

func (f *fakeGS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/batch/storage/v1" && r.Method == http.MethodPost && !f.single {
		f.batches.Add(1)
		f.batch(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := r.URL.EscapedPath()
	q := r.URL.Query()
	switch {
	case strings.Contains(p, "/bowl"):
		f.refuse(w, http.StatusNotFound, "The specified bucket does not exist: bucket doesn't exist")
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/b/pail/o"):
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		var meta struct{ Name string }
		head, err := parts.NextPart()
		if err == nil {
			err = json.NewDecoder(head).Decode(&meta)
		}
		var body *multipart.Part
		if err == nil {
			body, err = parts.NextPart()
		}
		if err != nil {
			f.refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		data, _ := io.ReadAll(body)
		old, exists := f.objects[meta.Name]
		if want := q.Get("ifGenerationMatch"); want != "" && want != strconv.FormatInt(old.generation, 10) {
			_ = exists // generation 0 means that there is no object
			f.refuse(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
			return
		}
		f.generation++
		o := gsObject{data, f.generation, time.Now()}
		f.objects[meta.Name] = o
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(f.resource(meta.Name, o))
	case r.Method == http.MethodGet && strings.HasSuffix(p, "/b/pail/o"):
		items := []any{}
		names, prefixes := listed(f.objects, q.Get("prefix"), q.Get("delimiter"))
		for _, name := range names {
			items = append(items, f.resource(name, f.objects[name]))
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items,
			"prefixes": prefixes})
	default:
		_, escaped, found := strings.Cut(p, "/b/pail/o/")
		if !found {
			_, escaped, _ = strings.Cut(p, "/pail/")
		}
		name, _ := url.PathUnescape(escaped)
		o, ok := f.objects[name]
		switch {
		case !ok:
			f.refuse(w, http.StatusNotFound, "No such object: pail/"+name)
		case r.Method == http.MethodDelete:
			delete(f.objects, name)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.generation, 10))
			w.Header().Set("X-Goog-Metageneration", "1")
			w.Header().Set("Last-Modified", o.updated.UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
			_, _ = w.Write(o.data)
		}
	}
}

// TestGS tests the store and its client against a fake server; a real one was not available.
func TestGS(t *testing.T) { // F6.1
	fake := &fakeGS{objects: map[string]gsObject{}}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.Listener.Addr().String())
	contract(t, "gs", "")
	require.Positive(t, fake.batches.Load())
	o, err := Open(t.Context(), "gs://bowl", os.LookupEnv)
	require.NoError(t, err)
	require.ErrorIs(t, o.(backend.Remover).DeleteAll(t.Context(), []string{"a", "b"}), errors.ErrUnsupported)
}

// TestGSWithoutBatches checks that objects are removed one by one where the server knows no batches.
func TestGSWithoutBatches(t *testing.T) {
	server := httptest.NewServer(&fakeGS{single: true, objects: map[string]gsObject{}})
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.Listener.Addr().String())
	o, err := Open(t.Context(), "gs://pail", os.LookupEnv)
	require.NoError(t, err)
	require.ErrorIs(t, o.(backend.Remover).DeleteAll(t.Context(), []string{"a", "b"}), errors.ErrUnsupported)
	whole(t, "gs://pail/other")
}

// TestGSWithoutCredentials checks that the error about a denied request mentions missing credentials only if there are
// none.
func TestGSWithoutCredentials(t *testing.T) {
	t.Parallel()
	refusal := &googleapi.Error{Code: http.StatusUnauthorized, Message: "Anonymous caller does not have access"}
	err := (&gsStore{anonymous: true}).explain(refusal)
	require.ErrorContains(t, err, "does not have access; no credentials for Google Cloud were found: name")
	require.ErrorIs(t, err, backend.ErrRefused)
	require.EqualError(t, (&gsStore{}).explain(refusal), backend.ErrRefused.Error()+": "+refusal.Message)
	refusal.Code = http.StatusServiceUnavailable
	require.EqualError(t, (&gsStore{anonymous: true}).explain(refusal), refusal.Message)
}
