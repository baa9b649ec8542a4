package cli

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/test/service/host"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// cutCommands are commands that change the state of the stack dev, each with the number of objects that exist once it
// has succeeded. Two items exist before it; a third one is not managed.
var cutCommands = []struct {
	line    string
	objects int
}{
	{"up --yes --skip-preview", 5}, {"up --yes", 5}, {"run", 5},
	{"destroy --yes --skip-preview", 1}, {"destroy --yes", 1},
	{"refresh --yes --skip-preview", 3}, {"state move lid --dest other --yes --include-parents", 3},
	{"import drawer:Item found ID --yes --skip-preview --generate-code=false", 3}, {"state rename lid cover --yes", 3},
	{"state delete lid --yes", 3}, {"state protect lid --yes", 3}, {"state taint lid", 3},
}

// cutStore is a store of states with a switch for its faults.
type cutStore struct {
	// open returns a terminal whose stacks the store keeps, and the provider of items.
	open func(t *testing.T) (*terminal, *drawer.Provider)
	// cut makes requests fail from the one behind after on: times of them, or all with 0. Their answer is lost, if
	// answer is set, or else they never arrive. It returns how to end that.
	cut func(after, times int, answer bool) (mend func())
}

// objectsOf returns the names of the objects that exist, in order.
func objectsOf(t require.TestingT, d *drawer.Provider) []string {
	all, err := drawer.Objects(d.Dir)
	require.NoError(t, err)
	var names []string
	for _, o := range all {
		names = append(names, o.URN[strings.LastIndex(o.URN, ":")+1:])
	}
	slices.Sort(names)
	return names
}

// follow does literally what the output of a failed command says, until the command succeeds.
func (x *terminal) follow(t require.TestingT, d *drawer.Provider, args []string) {
	heard := ""
	for range 6 {
		said := strings.Join(strings.Fields(x.out.String()+x.err.String()), " ")
		heard += fmt.Sprintf("%v: %s\n", args, said)
		file := regexp.MustCompile("yamlhost stack import --file '?([^ ']*)").FindStringSubmatch(said)
		switch {
		case file != nil:
			require.Zero(t, x.run("stack", "import", "--file", file[1]), "%s%s", heard, x.err.String())
		case strings.Contains(said, "Find out whether they exist, and run again with --settle-pending '<urn>=<id>' "+
			"for each that does and --settle-pending forget for the rest"):
			args = slices.Clip(args)
			all, err := drawer.Objects(d.Dir)
			require.NoError(t, err)
			for _, o := range all {
				if strings.Contains(said, " * "+o.URN+" ") || strings.Contains(said, " * "+o.URN+"Find") {
					args = append(args, "--settle-pending", o.URN+"="+o.ID)
				}
			}
			args = append(args, "--settle-pending", "forget")
		case strings.Contains(said, "end it with 'cancel'"):
			require.Zero(t, x.run("cancel", "--yes"), "%s%s", heard, x.err.String())
		case strings.Contains(said, "again"), strings.Contains(said, "next run"),
			strings.Contains(said, "next command"),
			strings.Contains(said, "correct the errors; nothing was changed"):
		default:
			require.Fail(t, "no advice leads on", heard)
		}
		if x.run(args...) == 0 {
			return
		}
	}
	require.Fail(t, "the advice does not lead out", "%s%s", heard, x.err.String())
}

// A store that cannot be reached from any request of a command on, for a while or until the command has ended, with the
// request or its answer lost: its last advice, followed literally, leads to what was wanted. Every object
// exists once, and is in one state once.
func (s cutStore) adviceLeadsOut(t *testing.T) {
	random, failed := rand.New(rand.NewPCG(46, 15)), 0
	for _, c := range cutCommands {
		after, answer := random.IntN(25), random.IntN(2) == 0
		times := []int{0, 0, 1, 3}[random.IntN(4)]
		t.Logf("%s: cut behind %d, %d times, answers %t", c.line, after, times, answer)
		x, d := s.open(t)
		x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=p")
		x.streams.InTerminal, x.streams.ErrTerminal = false, false
		succeeds := func(line string) {
			require.Zero(t, x.run(strings.Fields(line)...), "%s\n%s%s", line, x.out.String(), x.err.String())
		}
		program := func(more string) {
			path := filepath.Join(x.world.Dir, "Pulumi.yaml")
			require.NoError(t, os.WriteFile(path, []byte("name: p\nruntime: yaml\n"+
				"resources:\n"+
				"  box: {type: drawer:Item, properties: {title: one, kind: k}}\n"+
				"  lid: {type: drawer:Item, properties: {title: \"of ${box.tag}\", kind: k}}\n"+more), 0o600))
		}
		program("")
		succeeds("stack init other")
		succeeds("stack init dev")
		// The object that import finds is made by a run whose stack forgets it.
		program("  found: {type: drawer:Item, properties: {title: f, kind: k}}\n")
		succeeds("up --yes --skip-preview")
		id := ids(t, d.Dir, "found")[0]
		succeeds("state delete found --yes")
		program("")
		if strings.HasPrefix(c.line, "up") || c.line == "run" {
			program("  a: {type: drawer:Item, properties: {title: a, kind: k}}\n" +
				"  b: {type: drawer:Item, properties: {title: \"of ${a.tag}\", kind: k}}\n")
		}
		args := strings.Fields(strings.ReplaceAll(c.line, "ID", id))
		mend := s.cut(after, times, answer)
		code := x.run(args...)
		mend()
		first := x.out.String() + x.err.String()
		if code != 0 {
			failed++
			x.follow(t, d, args)
		}
		names := objectsOf(t, d)
		require.Len(t, names, c.objects, "%s: %v\n%s", c.line, names, first)
		require.Len(t, slices.Compact(names), c.objects, "%s: %v\n%s", c.line, names, first)
		for _, stack := range []string{"dev", "other"} {
			succeeds("state verify --stack " + stack)
			succeeds("state unprotect --all --yes --stack " + stack)
			succeeds("destroy --yes --skip-preview --stack " + stack)
		}
		left := objectsOf(t, d)
		if strings.HasPrefix(c.line, "import") {
			require.Empty(t, left, first)
		} else if strings.HasPrefix(c.line, "state delete") {
			require.Equal(t, []string{"found", "lid"}, left, first)
		} else {
			require.Equal(t, []string{"found"}, left, first)
		}
	}
	require.Positive(t, failed, "no command has failed")
}

// itemsOf gives a terminal the provider of items.
func itemsOf(t *testing.T, x *terminal) *drawer.Provider {
	d := &drawer.Provider{Dir: t.TempDir()}
	x.world.Embedded = []console.EmbeddedProviders{drawers{d}}
	return d
}

// cutDrawer is the provider of items behind a connection that is reset in the middle of some changes: before the
// provider has done them, or before it has answered.
type cutDrawer struct {
	*drawer.Provider
	mu                  sync.Mutex
	seen, after, before int // changes with numbers between these are cut
	answer              bool
}

func (c *cutDrawer) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "drawer" {
		return nil, &provider.MissingError{Package: p.Name}
	}
	return c, nil
}

func (c *cutDrawer) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return c, nil
}

// around calls change, unless the connection is reset before it.
func (c *cutDrawer) around(change func() error) error {
	c.mu.Lock()
	c.seen++
	cut := c.seen > c.after && c.seen < c.before
	answer := c.answer
	c.mu.Unlock()
	lost := &provider.Error{Outcome: provider.Unclear, Lost: true, Message: "the connection was reset by the peer"}
	if cut && !answer {
		return lost
	}
	if err := change(); err != nil || !cut {
		return err
	}
	return lost
}

func (c *cutDrawer) Create(ctx context.Context, r provider.CreateRequest) (a provider.CreateResponse, err error) {
	err = c.around(func() (err error) { a, err = c.Provider.Create(ctx, r); return err })
	return a, err
}

func (c *cutDrawer) Update(ctx context.Context, r provider.UpdateRequest) (a provider.UpdateResponse, err error) {
	err = c.around(func() (err error) { a, err = c.Provider.Update(ctx, r); return err })
	return a, err
}

func (c *cutDrawer) Delete(ctx context.Context, r provider.DeleteRequest) error {
	return c.around(func() error { return c.Provider.Delete(ctx, r) })
}

// cutDrawers makes a cutDrawer known to a terminal.
type cutDrawers struct{ *cutDrawer }

func (c cutDrawers) Schema(name string) ([]byte, bool) { return drawers{c.Provider}.Schema(name) }

// The connection of the provider is reset in the middle of changes.
func TestAdviceAboutCutProviders(t *testing.T) {
	t.Parallel()
	var c *cutDrawer
	s := cutStore{open: func(t *testing.T) (*terminal, *drawer.Provider) {
		x := newTerminal(t, "")
		c = &cutDrawer{Provider: &drawer.Provider{Dir: t.TempDir()}}
		x.world.Embedded = []console.EmbeddedProviders{cutDrawers{c}}
		return x, c.Provider
	}}
	s.cut = func(after, times int, answer bool) func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.after, c.answer = c.seen+after%3, answer
		c.before = c.after + times + 1
		if times == 0 {
			c.before = math.MaxInt
		}
		return func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.before = 0
		}
	}
	s.adviceLeadsOut(t)
}

// The store is a service that keeps stacks, with journals or with checkpoints.
func TestAdviceAboutCutServices(t *testing.T) {
	t.Parallel()
	for name, forgotten := range map[string][]string{"journals": nil, "checkpoints": {"journal"}, "deltas": {"delta"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h *hostedTerminal
			s := cutStore{open: func(t *testing.T) (*terminal, *drawer.Provider) {
				h = newHosted(t, "")
				h.Set(host.Behaviour{Forget: forgotten})
				return h.terminal, itemsOf(t, h.terminal)
			}}
			s.cut = func(after, times int, answer bool) func() {
				kind := "lose"
				if answer {
					kind = "lose-answer"
				}
				h.Set(host.Behaviour{Forget: forgotten, Faults: []host.Fault{{After: after, Times: times, Kind: kind}}})
				return func() { h.Set(host.Behaviour{Forget: forgotten}) }
			}
			s.adviceLeadsOut(t)
		})
	}
}
