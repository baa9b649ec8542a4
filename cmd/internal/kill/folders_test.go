//go:build linux

package kill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// harms are what may happen to the folder of the state in the middle of a run: it has no more room, it becomes
// read-only, or it moves elsewhere. With "away" the folder of the project moves.
var harms = []string{"full", "read-only", "moved", "away"}

var harmed = flag.Int("harms", 16, "how many runs to harm the folders of")

// harm is what has happened to the folders of a run. It is safe for concurrent use.
type harm struct{ kind atomic.Pointer[string] }

func (h *harm) begin(kind string) {
	h.kind.Store(&kind)
	switch kind {
	case "moved":
		state := strings.TrimPrefix(os.Getenv("PULUMI_BACKEND_URL"), "file://")
		_ = os.Rename(state, state+awaySuffix)
	case "away":
		for i, word := range os.Args {
			if word == "-C" {
				_ = os.Rename(os.Args[i+1], os.Args[i+1]+awaySuffix)
			}
		}
	}
}

// awaySuffix ends the name of a folder that has moved.
const awaySuffix = "-away"

// fault returns the error of a change of a file.
func (h *harm) fault(do string) error {
	kind := h.kind.Load()
	switch {
	case kind == nil || do == "look" || do == "sync" || do == "syncdir":
		return nil
	case *kind == "full" && do != "remove" && do != "rename":
		return syscall.ENOSPC
	case *kind == "read-only":
		return syscall.EROFS
	}
	return nil
}

// waysOut matches the way out that the output of a run names whose folder was harmed.
var waysOut = map[string]*regexp.Regexp{
	"full":      regexp.MustCompile("make room there"),
	"read-only": regexp.MustCompile("make the disk writable again"),
	"moved":     regexp.MustCompile("is gone; bring it back before the next run|create the folder, or choose"),
	"away":      regexp.MustCompile("the folder .*, in which it starts, does not exist"),
}

// TestFolders harms a folder in the middle of a run, at a named moment. The run ends and names a way out. Nothing is
// lost, and once the folder is as before, the next run goes on.
func TestFolders(t *testing.T) { // D9
	t.Parallel()
	points := slices.DeleteFunc(namedMoments(t), func(name string) bool { return !strings.HasPrefix(name, "host ") })
	require.Greater(t, len(points), 20)
	order := rand.New(rand.NewPCG(*seed, 8))
	order.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	failed := map[string]int{}
	for n := range *harmed {
		kind, point := harms[n%len(harms)], points[n/len(harms)%len(points)]
		b := newBench(t, &outcome{points: map[string]int{}}, *seed*1000+uint64(900+n))
		for i := range 4 {
			b.items[i] = item{"t", "k"}
		}
		if order.IntN(2) == 0 { // updates
			b.write()
			require.Equal(t, 0, b.run("", 0, "up", "--yes", "--skip-preview").code, b.said)
			for i := range 3 {
				b.items[i] = item{"u", "k"}
			}
		}
		b.write()
		before := len(b.environ)
		b.environ = append(b.environ, doKey+"="+kind)
		e := b.run(fmt.Sprintf("%s:%d", point, order.IntN(3)), 0, "up", "--yes", "--skip-preview", "--parallel", "2")
		b.environ = b.environ[:before]
		said := b.said
		for _, folder := range []string{b.project(), filepath.Join(b.dir, "state")} {
			if _, err := os.Stat(folder + awaySuffix); err == nil {
				require.NoError(t, os.Rename(folder+awaySuffix, folder), "%s, %s: the folder was made again", kind, point)
			}
		}
		if e.code != 0 {
			failed[kind]++
			require.Regexp(t, waysOut[kind], said, "%s, %s", kind, point)
		}
		require.True(t, b.inspect(point), "%s, %s: %v", kind, point, b.o.faults)
		if _, rescued, found := strings.Cut(said, "yamlhost stack import --file "); found {
			rescued, _, _ = strings.Cut(rescued, "\n")
			require.NotRegexp(t, "run [^.]*again", said, "%s, %s: the state comes first", kind, point)
			require.Equal(t, 0, b.run("", 0, "stack", "import", "--file", rescued).code, "%s, %s: %s", kind, point, b.said)
		}
		flags, _ := b.settlingFlags(false)
		e = b.run("", 0, append([]string{"up", "--yes", "--skip-preview", "--non-interactive"}, flags...)...)
		require.Equal(t, 0, e.code, "%s, %s: %s\nthen: %s", kind, point, said, b.said)
		b.final("up")
		require.Empty(t, b.o.faults, "%s, %s: %s", kind, point, said)
	}
	t.Logf("%d runs with a folder that was harmed; failed, and went on later: %v", *harmed, failed)
	require.NotEmpty(t, failed)
}
