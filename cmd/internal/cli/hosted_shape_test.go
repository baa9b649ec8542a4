package cli

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/test/service/host"
	"github.com/yamlhost/yamlhost/test/service/host/hosttest"
)

var identifier = regexp.MustCompile(`/[0-9a-f]{32}`)

// callOf returns the method and the path of a call, without IDs of operations and the name of the stack.
func callOf(e host.Exchange) string {
	path, _, _ := strings.Cut(e.Path, "?")
	return e.Method + " " + strings.Replace(identifier.ReplaceAllString(path, "/ID"), "/prod", "/dev", 1)
}

// keysOf adds the paths of the members of a body to dst. It skips values that depend on the program or on the
// environment.
func keysOf(path string, v any, dst map[string]bool) {
	switch x := v.(type) {
	case map[string]any:
		for key, inner := range x {
			if path == ".events" && strings.HasSuffix(key, "Event") && key != "preludeEvent" && key != "summaryEvent" {
				continue // not in the recording
			}
			switch key {
			case "config", "environment", "deployment", "resourceChanges", "state", "resource", "newSnapshot":
				inner = nil
			}
			dst[path+"."+key] = true
			keysOf(path+"."+key, inner, dst)
		}
	case []any:
		for _, inner := range x {
			keysOf(path, inner, dst)
		}
	}
}

// TestHostedShape repeats the commands of a recorded session of the Pulumi CLI and requires the same calls with the
// same members.
func TestHostedShape(t *testing.T) {
	t.Parallel()
	recorded, err := hosttest.Exchanges("../../../test/service/host/testdata/journal.jsonl.gz")
	require.NoError(t, err)
	known := map[string]map[string]bool{}
	note := func(e host.Exchange, dst map[string]map[string]bool) {
		keys := dst[callOf(e)]
		if keys == nil {
			keys = map[string]bool{}
			dst[callOf(e)] = keys
		}
		if len(e.Body) > 0 {
			var body any
			require.NoError(t, json.Unmarshal(e.Body, &body), "%s", e.Body)
			keysOf("", body, keys)
		}
	}
	for _, e := range recorded {
		note(e, known)
	}

	x := newHosted(t, strings.Replace(pets, "name: one", "name: library", 1))
	ours := map[string]map[string]bool{}
	server := httptest.NewServer(host.Record(x.Host, func(e host.Exchange) { note(e, ours) }))
	t.Cleanup(server.Close)
	x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL="+server.URL)
	file := filepath.Join(x.world.Dir, "exported.json")
	for _, line := range []string{"login " + server.URL, "stack init dev", "config set --secret word canary",
		"config get word", "up --yes --skip-preview", "preview", "config set length 3", "up --yes --skip-preview",
		"refresh --yes --skip-preview", "stack export --file " + file, "stack import --file " + file,
		"stack output --show-secrets", "stack history", "stack tag set colour blue", "stack ls", "stack rename prod",
		"destroy --yes --skip-preview", "stack rm --yes"} {
		x.does(strings.Fields(line)...)
	}
	for _, key := range []string{".entries.newSnapshot", ".entries.removeNew"} { // not in this session
		known["PATCH /api/stacks/tester/library/dev/update/ID/journalentries"][key] = true
	}
	for call, keys := range ours {
		assert.Contains(t, known, call, "the Pulumi CLI does not make this call")
		for key := range keys {
			assert.True(t, known[call][key], "%s: the Pulumi CLI does not send %s", call, key)
		}
	}
	for call := range known {
		switch {
		case strings.HasSuffix(call, "log-decryption"), strings.HasSuffix(call, "log-batch-decryption"):
		case call == "GET /api/capabilities": // not needed with a journal
		default:
			assert.Contains(t, ours, call, "only the Pulumi CLI makes this call")
		}
	}
}
