package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// No command ignores a damaged journal. state repair shows its missing parts and applies the rest after confirmation.
// It also restores records that earlier versions set aside as torn if the state lacks them.
func TestRepairOfAJournal(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	program := "name: p\nruntime: yaml\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(program), 0o600))
	url := "file://" + filepath.ToSlash(home)
	yamlhost := func(args ...string) (string, int) {
		var said bytes.Buffer
		streams, world := System("0.1.0-test")
		streams.Out, streams.Err = &said, &said
		world.Dir, world.Home = dir, home
		world.Env = []string{"PULUMI_BACKEND_URL=" + url, "PULUMI_HOME=" + filepath.Join(home, ".pulumi"), "HOME=" + home,
			"PULUMI_CONFIG_PASSPHRASE="}
		code := Run(context.Background(), args, streams, world)
		return said.String(), code
	}
	ref := backend.Ref{Project: "p", Stack: "dev"}
	b, err := backend.Open(url, backend.Options{Version: "test"})
	require.NoError(t, err)
	require.NoError(t, b.Create(t.Context(), ref, nil))
	path := filepath.Join(home, ".pulumi/stacks/p/dev.yamlhost-journal")
	before, err := os.ReadFile(filepath.Join(home, ".pulumi/stacks/p/dev.json"))
	require.NoError(t, err)
	session, err := b.Begin(t.Context(), ref, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	var data []byte
	var ends []int
	put := func(e journal.Entry) {
		require.NoError(t, session.Append(t.Context(), e))
		data, err = os.ReadFile(path)
		require.NoError(t, err)
		ends = append(ends, len(data))
	}
	for i := 1; i <= 5; i++ {
		r := &state.Resource{URN: urn.New("dev", "p", "", "t:i:R", fmt.Sprint("r", i)), Type: "t:i:R", Custom: true,
			ID: fmt.Sprint("id", i), Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
		put(journal.Entry{Step: int64(i), Begin: &state.Operation{Resource: r, Kind: state.Creating}})
		put(journal.Entry{Step: int64(i), Add: []journal.Amended{{ID: journal.ID(i), Resource: r}}})
	}
	require.NoError(t, session.Close())

	// Destroy both records of step 3.
	damaged := bytes.Clone(data)
	copy(damaged[ends[3]:ends[5]], bytes.Repeat([]byte("x"), len(data)))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".pulumi/stacks/p/dev.json"), before, 0o600))
	require.NoError(t, os.WriteFile(path, damaged, 0o600))
	said, code := yamlhost("up", "--yes", "--stack", "dev")
	require.NotZero(t, code)
	require.Contains(t, said, "missing: what step 3 of the run was")
	require.Contains(t, said, "yamlhost state repair")
	said, code = yamlhost("state", "repair", "--stack", "dev")
	require.Equal(t, console.CodeUsage, code, said)
	require.Contains(t, said, "8 records can be read and used")
	said, code = yamlhost("state", "repair", "--stack", "dev", "--yes")
	require.Zero(t, code, said)
	require.Contains(t, said, "it is not known what step 3 of the run was")
	require.Contains(t, said, "yamlhost import")
	said, code = yamlhost("state", "verify", "--stack", "dev")
	require.Zero(t, code, said)
	require.Contains(t, said, "sound: 4 resources")

	// A file of torn records has the record that the state lacks.
	require.NoError(t, os.WriteFile(path+".9.torn", data[ends[3]:], 0o600))
	said, code = yamlhost("state", "verify", "--stack", "dev")
	require.NotZero(t, code)
	require.Contains(t, said, "r3 with the ID id3 was made")
	said, code = yamlhost("state", "repair", "--stack", "dev", "--yes")
	require.Zero(t, code, said)
	require.Contains(t, said, "1 record of what was set aside")
	said, code = yamlhost("state", "verify", "--stack", "dev")
	require.Zero(t, code, said)
	require.Contains(t, said, "sound: 5 resources")

	// No later run creates anything before a full refresh, unless it has --accept-loss.
	loss := path[:len(path)-len("journal")] + "loss"
	lost, err := os.ReadFile(loss)
	require.NoError(t, err)
	for range 2 {
		for _, command := range [][]string{{"up", "--yes"}, {"up", "--yes", "--skip-preview"}, {"run"}} {
			said, code = yamlhost(append(command, "--stack", "dev")...)
			require.Equal(t, console.CodePending, code, said)
			require.Contains(t, said, "nothing was created, because it may exist already")
			require.Contains(t, said, "it is not known what step 3 of the run was")
			require.Contains(t, said, "kept for inspection: ")
			require.Contains(t, said, "--accept-loss")
		}
	}
	said, code = yamlhost("preview", "--stack", "dev")
	require.Contains(t, said, "warning: a repair of ", code)
	yamlhost("refresh", "--yes", "--preview-only", "--stack", "dev")
	yamlhost("refresh", "--yes", "--target", "urn:pulumi:dev::p::t:i:R::r1", "--stack", "dev")
	require.FileExists(t, loss, "a refresh of a part is none")
	said, code = yamlhost("stack", "rename", "other", "--stack", "dev")
	require.Zero(t, code, said)
	said, code = yamlhost("up", "--yes", "--stack", "other")
	require.Equal(t, console.CodePending, code, said)
	said, code = yamlhost("stack", "rename", "dev", "--stack", "other")
	require.Zero(t, code, said)
	said, _ = yamlhost("up", "--yes", "--accept-loss", "--stack", "dev")
	require.NotContains(t, said, "nothing was created")
	require.NoError(t, os.WriteFile(loss, lost, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".pulumi/stacks/p/dev.json"), before, 0o600))
	said, code = yamlhost("refresh", "--yes", "--stack", "dev")
	require.Zero(t, code, said)
	require.Contains(t, said, "it is not known what step 3 of the run was")
	said, code = yamlhost("up", "--yes", "--stack", "dev")
	require.Zero(t, code, said)
	require.NoFileExists(t, loss)
	require.NoError(t, os.WriteFile(loss, lost, 0o600))
	said, code = yamlhost("stack", "rm", "--yes", "--force", "--stack", "dev")
	require.Zero(t, code, said)
	require.NoFileExists(t, loss)
}
