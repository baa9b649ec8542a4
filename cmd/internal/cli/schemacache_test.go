package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sharedCache is a home folder that processes share, and the output that each must have for one program.
type sharedCache struct {
	home, program, schema string
	want                  string
}

const cacheProgram = `name: p
runtime: yaml
resources:
  good:
    type: azure-native:keyvault:Vault
    properties: {resourceGroupName: rg, properties: {tenantId: t, sku: {family: A, name: standard}}}
  bad:
    type: azure-native:keyvault:Vault
    properties: {resourceGroupNam: rg, properties: {tenantId: t, sku: {family: A, nmae: standard}}}
outputs:
  uri: ${good.properties.vaultUir}
`

func newSharedCache(t *testing.T) *sharedCache {
	dir := t.TempDir()
	c := &sharedCache{home: filepath.Join(dir, "home"), program: filepath.Join(dir, "program"),
		schema: filepath.Join(dir, "azure-native.json.gz")}
	require.NoError(t, os.Mkdir(c.program, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(c.program, "Pulumi.yaml"), []byte(cacheProgram), 0o644))
	text, err := os.ReadFile("../../../check/testdata/corpus/azure-native.json")
	require.NoError(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(c.schema, packed.Bytes(), 0o644))
	out, _, err := c.check(t.Context(), nil)
	require.Error(t, err) // the program is wrong
	require.Contains(t, out, "error[Y210]")
	c.want = out
	return c
}

// check runs `yamlhost check` in a separate process, which it passes to kill unless kill is nil.
func (c *sharedCache) check(ctx context.Context, kill func(*os.Process)) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, "yamlhost", "check", c.program, "--schema", c.schema)
	cmd.Env = append(os.Environ(), "PULUMI_HOME="+c.home, "PULUMI_BACKEND_URL=file://"+filepath.ToSlash(c.home))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	if kill != nil {
		kill(cmd.Process)
	}
	err = cmd.Wait()
	return out.String(), errs.String(), err
}

// spoil damages a random file of the cache in a random way.
func (c *sharedCache) spoil(random *rand.Rand) {
	files, _ := filepath.Glob(filepath.Join(c.home, "yamlhost", "schemas", "*"))
	if len(files) == 0 {
		return
	}
	path := files[random.IntN(len(files))]
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return
	}
	switch random.IntN(4) {
	case 0:
		_ = os.Truncate(path, random.Int64N(info.Size()))
	case 1:
		_ = os.Remove(path)
	case 2:
		_ = os.WriteFile(path, []byte("yamlhost schema index 2\n{}"), 0o644)
	case 3: // plausible content with a wrong name
		text, err := os.ReadFile(path)
		if err != nil {
			return
		}
		text = bytes.ReplaceAll(text, []byte(`"resourceGroupName"`), []byte(`"resourceGroupNamf"`))
		if file, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = file.WriteAt(text, 0)
			_ = file.Close()
		}
	}
}

// Eight processes at a time use a cache of schemas while others are killed and its files are truncated, removed,
// replaced and overwritten. Those that survive print the right findings, and none blocks.
func TestProcessesShareSchemas(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	c := newSharedCache(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var wait sync.WaitGroup
	var mu sync.Mutex // guards killed and answered
	killed, answered := 0, 0
	for user := range 8 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(user)))
			for round := range 12 {
				c.spoil(random)
				victim := (user+round)%3 == 0
				out, errs, err := c.check(ctx, func(p *os.Process) {
					if victim {
						// Anywhere from the start of the process to the end of its work.
						time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = p.Kill() })
					}
				})
				exit, _ := err.(*exec.ExitError)
				mu.Lock()
				switch {
				case ctx.Err() != nil:
					t.Errorf("stuck")
				case exit != nil && exit.ExitCode() == -1 && victim:
					killed++
				case out != c.want || errs != "" || exit == nil || exit.ExitCode() != 12:
					t.Errorf("wrong answer: %v\n%s%s", err, out, errs)
				default:
					answered++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	require.Positive(t, killed)
	require.Positive(t, answered)
	out, errs, _ := c.check(t.Context(), nil)
	require.Equal(t, c.want, out)
	require.Empty(t, errs)
	t.Logf("%d processes answered, %d were killed", answered, killed)

	// Files that killed processes left are removed after a time.
	long := time.Now().Add(-2 * time.Hour)
	dir := filepath.Join(c.home, "yamlhost", "schemas")
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".index-0"), nil, 0o644))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.NotEmpty(t, left)
	for _, path := range left {
		require.NoError(t, os.Chtimes(path, long, long))
	}
	indexes, err := filepath.Glob(filepath.Join(dir, "*.index"))
	require.NoError(t, err)
	require.Len(t, indexes, 1)
	require.NoError(t, os.Remove(indexes[0]))
	_, _, _ = c.check(t.Context(), nil)
	left, err = filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
