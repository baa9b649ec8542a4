//go:build linux

package kill

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// panickingRoom embeds a drawer that panics.
type panickingRoom struct{ panicking }

func (r panickingRoom) Load(_ context.Context, pkg provider.Package) (provider.Provider, error) {
	if pkg.Name != "drawer" {
		return nil, &provider.MissingError{Package: pkg.Name}
	}
	return r.panicking, nil
}

func (r panickingRoom) Schema(name string) ([]byte, bool) {
	if name != "drawer" {
		return nil, false
	}
	text, err := r.Provider.Schema(context.Background(), provider.SchemaRequest{})
	return text, err == nil
}

// panicking is a drawer that panics in one of its calls.
type panicking struct {
	*drawer.Provider
	at string
}

func (p panicking) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return p, nil
}

func (p panicking) in(call string) {
	if call == p.at {
		panic("out of cheese: canary-of-the-stack")
	}
}

func (p panicking) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	out, err := p.Provider.Create(ctx, r)
	p.in("create")
	return out, err
}

func (p panicking) Delete(ctx context.Context, r provider.DeleteRequest) error {
	err := p.Provider.Delete(ctx, r)
	p.in("delete")
	return err
}

func (p panicking) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	p.in("read")
	return p.Provider.Read(ctx, r)
}

func (p panicking) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.in("diff")
	return p.Provider.Diff(ctx, r)
}

func (p panicking) Cancel(context.Context) error {
	p.in("cancel")
	return nil
}

func (p panicking) Close() error {
	p.in("close")
	return nil
}

// A panic in any goroutine ends with a report without secrets and without a stack dump. It leaves a journal from which
// the next run continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	for path, pending := range map[string]bool{"create": true, "delete": false, "read": false, "diff": false,
		"close": false} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			reports := t.TempDir()
			b := newFault(t, "PULUMI_CONFIG_PASSPHRASE=x", "TMPDIR="+reports)
			require.Equal(t, 0, b.run("", 0, "config", "set", "--secret", "word", "canary-of-the-stack").code, b.said)
			if path != "create" {
				require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
				b.items = map[int]item{0: {"other", "k"}, 1: {"t", "k"}, 2: {"t", "k"}}
				b.write()
			}
			// An installed plugin wins over a built-in provider.
			installed := filepath.Join(b.dir, "home", "plugins", "resource-drawer-v1.0.0")
			require.NoError(t, os.Rename(installed, filepath.Join(b.dir, "aside")))
			before := len(b.environ)
			b.environ = append(b.environ, panicKey+"="+path)
			require.Equal(t, 255, b.run("", 0, "up", "--yes", "--skip-preview", "--refresh").code, b.said)
			require.Contains(t, b.said, "internal error: out of cheese")
			require.Contains(t, b.said, "run the same command again")
			require.NotContains(t, b.said, "goroutine")
			require.NotContains(t, b.said, "canary-")
			kept := testfile.Match(t, filepath.Join(reports, "yamlhost-crash-*.txt"))
			require.Len(t, kept, 1)
			require.Contains(t, b.said, kept[0])
			text := testfile.Text(t, kept[0])
			require.Contains(t, text, "panicking")
			require.NotContains(t, text, "canary-")
			require.True(t, b.inspect(path), b.o.faults)
			b.environ = b.environ[:before]
			require.NoError(t, os.Rename(filepath.Join(b.dir, "aside"), installed))
			flags, _ := b.settlingFlags(false)
			require.Equal(t, pending, len(flags) > 0, b.said)
			require.Equal(t, 0, b.run("", 0, append([]string{"up", "--yes", "--skip-preview"}, flags...)...).code, b.said)
			b.nothingLeft(t)
			require.Empty(t, b.o.faults)
		})
	}
}
