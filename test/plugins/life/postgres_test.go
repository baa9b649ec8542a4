package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// serverPrograms is the folder of PostgreSQL's server programs; without it, tests on PostgreSQL are skipped.
var serverPrograms = os.Getenv("YAMLHOST_POSTGRES")

// TestMovingOnInPostgreSQL lets the Pulumi CLI and yamlhost take turns at one stack in one table (F6.18): neither sees
// a change after the other, each respects the other's lock, and the CLI's table contains only its own rows.
func TestMovingOnInPostgreSQL(t *testing.T) {
	t.Parallel()
	if serverPrograms == "" {
		t.Skip("needs a server of PostgreSQL: make postgres-test finds one and says where it is (YAMLHOST_POSTGRES)")
	}
	server := func(do string, args ...string) string {
		text, err := exec.Command("../../tools/postgres", append([]string{do, serverPrograms}, args...)...).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(text))
	}
	folder := server("start")
	t.Cleanup(func() { server("remove", folder) })
	query := func(statement string) []string {
		text, err := exec.Command(filepath.Join(serverPrograms, "psql"), "-h", folder, "-U", "postgres", "-Atc",
			statement).CombinedOutput()
		require.NoError(t, err, string(text))
		return strings.Fields(string(text))
	}
	s := newStoreSandbox(t)
	s.env = append(s.env, "PULUMI_BACKEND_URL=postgres:///postgres?host="+folder+
		"&user=postgres&sslmode=disable&table=Shared_State")
	movingOn(t, s, func() int {
		if len(query(`SELECT to_regclass('shared_state')`)) == 0 {
			return 0
		}
		return len(query(`SELECT key FROM shared_state WHERE key LIKE 'postgres/.pulumi/locks/organization/library/dev/%'`))
	})
	require.Empty(t, query(`SELECT key FROM shared_state WHERE key LIKE '%/locks/%'`), "no lock is left")
	require.Empty(t,
		query(`SELECT key FROM shared_state WHERE key LIKE '%yamlhost%' OR key NOT LIKE 'postgres/.pulumi/%'`))
	require.NotEmpty(t, query(`SELECT key FROM shared_state_yamlhost`))
	require.Empty(t,
		query(
			`SELECT key FROM shared_state WHERE convert_from(decode(data->>'data', 'base64'), 'UTF8') LIKE '%borrowed from Ann%'`),
		"secrets are sealed wherever they are")
	require.Empty(t, query(`SELECT key FROM shared_state_yamlhost WHERE position('borrowed from Ann'::bytea IN data) > 0`))
}
