package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// client speaks to a server as the Pulumi CLI does.
type client struct {
	t     *testing.T
	url   string
	token string // of the user
	lease string // of the run
}

func serve(t *testing.T, h *Host) *client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &client{t: t, url: s.URL, token: h.Token()}
}

// call sends a call and returns the status and the response. The status is 0 if there is no response.
func (c *client) call(method, path, body string) (status int, answer map[string]any) {
	c.t.Helper()
	q, err := http.NewRequest(method, c.url+path, bytes.NewReader([]byte(body)))
	require.NoError(c.t, err)
	q.Header.Set("Authorization", "token "+c.token)
	if c.lease != "" {
		q.Header.Set("Authorization", "update-token "+c.lease)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, nil
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(c.t, err)
	if len(text) > 0 {
		require.NoError(c.t, json.Unmarshal(text, &answer), "%s", text)
	}
	return a.StatusCode, answer
}

// ok sends a call that must succeed.
func (c *client) ok(method, path, body string) map[string]any {
	c.t.Helper()
	status, answer := c.call(method, path, body)
	require.Equal(c.t, http.StatusOK, status, "%s %s: %v", method, path, answer)
	return answer
}

const devStack = "/api/stacks/team/library/dev"

// begin creates and starts an update, and returns its path.
func (c *client) begin() string {
	c.t.Helper()
	c.lease = ""
	id := c.ok("POST", devStack+"/update", `{"name": "library", "metadata": {"message": "m", "environment": {}}}`)["updateID"]
	path := fmt.Sprintf("%s/update/%s", devStack, id)
	c.lease, _ = c.ok("POST", path, `{"journalVersion": 1}`)["token"].(string)
	return path
}

// names returns the names in the current state, and those of pending operations.
func (c *client) names() (resources, pending []string) {
	c.t.Helper()
	lease := c.lease
	c.lease = ""
	defer func() { c.lease = lease }()
	d, _ := c.ok("GET", devStack+"/export", "")["deployment"].(map[string]any)
	for _, r := range list(d["resources"]) {
		resources = append(resources, r.(map[string]any)["urn"].(string))
	}
	for _, o := range list(d["pending_operations"]) {
		pending = append(pending, o.(map[string]any)["resource"].(map[string]any)["urn"].(string))
	}
	return resources, pending
}

func open(t *testing.T) (*Host, *client) {
	t.Helper()
	h, err := Open(t.TempDir())
	require.NoError(t, err)
	c := serve(t, h)
	c.ok("POST", "/api/stacks/team/library", `{"stackName": "dev", "tags": {"pulumi:project": "library"}}`)
	return h, c
}

// TestJournal sends the entries of an update that creates, replaces and deletes, some of them twice and some out of
// order. Each counts once, in the order of the numbers, even after a restart of the server.
func TestJournal(t *testing.T) {
	t.Parallel()
	h, c := open(t)
	u := c.begin()
	send := func(entries string) { c.ok("PATCH", u+"/journalentries", `{"entries": [`+entries+`]}`) }
	send(`{"kind": 0, "sequenceID": 1, "operationID": 1, "operation": {"type": "creating", "resource": {"urn": "a"}}}`)
	resources, pending := c.names()
	require.Empty(t, resources)
	require.Equal(t, []string{"a"}, pending)
	made := `{"kind": 1, "sequenceID": 2, "operationID": 1, "state": {"urn": "a", "id": "1"}}`
	send(made + "," + made)
	send(`{"kind": 1, "sequenceID": 4, "operationID": 2, "state": {"urn": "c"}},
		{"kind": 0, "sequenceID": 3, "operationID": 2, "operation": {"type": "creating", "resource": {"urn": "c"}}}`)
	resources, pending = c.names()
	require.Equal(t, []string{"a", "c"}, resources)
	require.Empty(t, pending)

	again, err := Open(h.dir)
	require.NoError(t, err)
	lease := c.lease
	c = serve(t, again)
	c.lease = lease
	c.ok("POST", u+"/complete", `{"status": "succeeded"}`)
	resources, _ = c.names()
	require.Equal(t, []string{"a", "c"}, resources)

	u = c.begin()
	send(`{"kind": 1, "sequenceID": 1, "operationID": 1, "state": {"urn": "a", "id": "2"}, "deleteOld": 0},
		{"kind": 1, "sequenceID": 2, "operationID": 2, "removeOld": 1}`)
	status, _ := c.call("POST", devStack+"/update", `{}`)
	require.Equal(t, http.StatusConflict, status, "another run")
	c.ok("POST", u+"/complete", `{"status": "failed"}`)
	resources, _ = c.names()
	require.Equal(t, []string{"a", "a"}, resources)
	status, _ = c.call("PATCH", u+"/journalentries", `{"entries": []}`)
	require.Equal(t, http.StatusConflict, status, "after the end")
}

// TestCheckpoints sends a state, then differences. A difference to another state is refused and changes nothing, and a
// repeated one is recognized.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	h, c := open(t)
	h.Set(Behaviour{Forget: []string{"journal"}})
	u := c.begin()
	before := `{"version":3,"deployment":{"resources":[{"urn":"a"}]}}`
	after := `{"version":3,"deployment":{"resources":[{"urn":"a"},{"urn":"b"}]}}`
	delta := func(sequence int) string {
		sum := sha256.Sum256([]byte(after))
		i := len(before) - len("]}}")
		return fmt.Sprintf(`{"version": 3, "sequenceNumber": %d, "checkpointHash": %q, "deploymentDelta":
			[{"Span": {"start": {"offset": %d}, "end": {"offset": %d}}, "NewText": ",{\"urn\":\"b\"}"}]}`,
			sequence, hex.EncodeToString(sum[:]), i, i)
	}
	status, _ := c.call("PATCH", u+"/checkpointdelta", delta(1))
	require.Equal(t, http.StatusBadRequest, status, "nothing to differ from")
	c.ok("PATCH", u+"/checkpointverbatim", `{"version": 3, "sequenceNumber": 1, "untypedDeployment": `+before+`}`)
	c.ok("PATCH", u+"/checkpointdelta", delta(2))
	c.ok("PATCH", u+"/checkpointdelta", delta(2))
	status, _ = c.call("PATCH", u+"/checkpointdelta", delta(3))
	require.Equal(t, http.StatusBadRequest, status, "another base")
	resources, _ := c.names()
	require.Equal(t, []string{"a", "b"}, resources)
}

// TestLeases lets a lease expire and cancels a run. The token is then invalid, and the state that was sent is kept.
func TestLeases(t *testing.T) {
	t.Parallel()
	h, c := open(t)
	now := time.Unix(1_700_000_000, 0)
	h.Now = func() time.Time { return now }
	u := c.begin()
	c.ok("PATCH", u+"/journalentries", `{"entries": [{"kind": 1, "sequenceID": 1, "operationID": 1, "state": {"urn": "a"}}]}`)
	now = now.Add(4 * time.Minute)
	c.ok("POST", u+"/renew_lease", `{"duration": 300}`)
	now = now.Add(4 * time.Minute)
	c.ok("POST", u+"/renew_lease", `{"duration": 300}`)
	now = now.Add(6 * time.Minute)
	status, _ := c.call("POST", u+"/renew_lease", `{"duration": 300}`)
	require.Equal(t, http.StatusConflict, status)
	resources, _ := c.names()
	require.Equal(t, []string{"a"}, resources)

	u = c.begin()
	lease := c.lease
	c.lease = ""
	c.ok("POST", u+"/cancel", "")
	c.lease = lease
	status, _ = c.call("PATCH", u+"/journalentries", `{"entries": []}`)
	require.Equal(t, http.StatusConflict, status)
}

// TestBehaviour tests every fault.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	h, c := open(t)
	h.Set(Behaviour{Faults: []Fault{{Call: "/export", After: 1, Times: 1, Kind: "lose"}, {Call: "/tags", Kind: "lose-answer"},
		{Call: "/batch-encrypt", Kind: "twice"}, {Call: "/api/user", Status: http.StatusTooManyRequests}}, Limit: 1000})
	c.ok("GET", devStack+"/export", "")
	status, _ := c.call("POST", devStack+"/rename", fmt.Sprintf(`{"newName": %q}`, bytes.Repeat([]byte("x"), 1000)))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	status, _ = c.call("PATCH", devStack+"/tags", `{"colour": "blue"}`)
	require.Zero(t, status)
	require.Equal(t, map[string]any{"colour": "blue"}, c.ok("GET", devStack, "")["tags"])
	status, _ = c.call("GET", "/api/user", "")
	require.Equal(t, http.StatusTooManyRequests, status)
	sealed := c.ok("POST", devStack+"/batch-encrypt", `{"plaintexts": ["aHVudGVyMg=="]}`)["ciphertexts"].([]any)[0].(string)
	opened := c.ok("POST", devStack+"/batch-decrypt", fmt.Sprintf(`{"ciphertexts": [%q]}`, sealed))
	require.Equal(t, map[string]any{"plaintexts": map[string]any{sealed: "aHVudGVyMg=="}}, opened)

	require.Equal(t, 1, h.Calls()["batch-decrypt"])

	var died atomic.Bool
	h.Die = func() { died.Store(true) }
	h.Set(Behaviour{Faults: []Fault{{Kind: "die"}}})
	status, _ = c.call("POST", devStack+"/encrypt", "{}")
	require.Zero(t, status)
	require.True(t, died.Load())

	h.Set(Behaviour{})
	c.token = "another"
	status, _ = c.call("GET", "/api/user", "")
	require.Equal(t, http.StatusUnauthorized, status)
}

// Calls that are recorded do not wait for each other, and a document that is no JSON is recorded, too.
func TestRecord(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	var lines []string
	server := httptest.NewServer(Record(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		both.Done()
		both.Wait()
		_, _ = w.Write([]byte("values: {}"))
	}), func(e Exchange) {
		text, err := json.Marshal(e)
		assert.NoError(t, err)
		lines = append(lines, string(text))
	}))
	defer server.Close()
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			answer, err := http.Post(server.URL, "application/x-yaml", strings.NewReader("imports: [a]"))
			if assert.NoError(t, err) {
				assert.NoError(t, answer.Body.Close())
			}
		})
	}
	calls.Wait()
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"body":"imports: [a]"`)
	require.Contains(t, lines[0], `"answer":"values: {}"`)
}
