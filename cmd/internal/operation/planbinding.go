package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace"
)

// planBinding holds the conditions of a plan: the stack with its state, the program, and the plugins of the plan. A
// plan of the Pulumi CLI has none, and is bound only by its steps and inputs. Texts are SHA-256 in hexadecimal.
type planBinding struct {
	Format  int               `json:"format,omitempty"` // planFormat of the writer; absent in the first version
	Project string            `json:"project"`
	Stack   string            `json:"stack"`
	Program map[string]string `json:"program"` // by file, relative to the project's folder
	Plugins map[string]string `json:"plugins,omitempty"`
	State   string            `json:"state"`
	Because []change.Told     `json:"because,omitempty"` // why; nothing is bound to it
}

// planFormat is the version of the binding's format.
const planFormat = 1

// refusedPlan is the error of a plan that is refused, with the exit code for it.
func refusedPlan(format string, args ...any) error {
	return console.WithCode(console.CodePlan, format+
		"; nothing was done. Make a new plan with `yamlhost preview --save-plan`", args...)
}

// subject returns the binding to the stack and the program of the present run.
func subject(a *console.Console, ws *workspace.Workspace, stack backend.Ref) *planBinding {
	b := &planBinding{Format: planFormat, Project: ws.Project.Name.Text, Stack: stack.Stack,
		Program: map[string]string{}}
	for _, src := range append([]*diag.Source{ws.Source, ws.Project.Source}, ws.Parts...) {
		if src == nil {
			continue
		}
		name := a.Path(src.Name())
		if rel, err := filepath.Rel(ws.Project.Dir, name); err == nil {
			name = filepath.ToSlash(rel)
		}
		b.Program[name] = checksum(src.Text())
	}
	return b
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// stateDigest returns a digest of a state that does not depend on the reader. Secrets are represented by the time at
// which their resource was written.
func stateDigest(s *state.Snapshot) (string, error) {
	if s == nil {
		return checksum(nil), nil
	}
	h := sha256.New()
	add := func(r *state.Resource) error {
		text, err := state.AppendResource(nil, r, state.Masked())
		h.Write(text)
		return err
	}
	for _, r := range s.Resources {
		if err := add(r); err != nil {
			return "", err
		}
	}
	for i := range s.Pending {
		fmt.Fprintf(h, "pending %v ", s.Pending[i].Kind)
		if err := add(s.Pending[i].Resource); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// holds returns an error if the stack or the program of a run differs from the plan's. It names one difference. Before
// the program is whole, the files that it includes are not known.
func (b *planBinding) holds(now *planBinding, whole bool) error {
	if b == nil {
		return nil
	}
	if b.Project != now.Project || b.Stack != now.Stack {
		return refusedPlan("the plan is for the stack %s of %s, and this is %s of %s", b.Stack, b.Project, now.Stack,
			now.Project)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Program)) {
		switch sum, there := now.Program[name]; {
		case !there && !whole:
		case !there:
			return refusedPlan("the plan was made with the file %s, which no longer exists", name)
		case sum != b.Program[name]:
			return refusedPlan("%s has changed since the plan was made", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Program)) {
		if _, known := b.Program[name]; !known {
			return refusedPlan("the program has the file %s, which it did not have when the plan was made", name)
		}
	}
	return nil
}

// stateHolds returns an error if a state differs from the plan's; a nil state is not compared.
func (b *planBinding) stateHolds(base *state.Snapshot) error {
	if b == nil || base == nil {
		return nil
	}
	digest, err := stateDigest(base)
	if err == nil && digest != b.State {
		err = refusedPlan("the state of the stack has changed since the plan was made")
	}
	return err
}

// usedPlugins records the plugins that a command has started, by name and version, with the checksums of their
// executables. It is safe for concurrent use.
type usedPlugins struct {
	needed bool              // a plan will be written; otherwise large executables are not read
	want   map[string]string // of a plan; nil without one. Both are set before the first plugin starts

	mu   sync.Mutex // guards the fields below
	sums map[string]string
}

// checksums returns the checksums of all plugins used so far.
func (u *usedPlugins) checksums() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.sums)
}

// note records a plugin that is about to be used, before any call to it. It returns an error if the plan has another
// plugin.
func (u *usedPlugins) note(pkg provider.Package, executable string) error {
	if !u.needed && u.want == nil {
		return nil
	}
	file, err := os.Open(executable)
	if err != nil {
		return nil // a script in a folder, or a provider to attach to, has no checksum
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return nil // a folder
	}
	name := strings.TrimSuffix(pkg.Name+"@"+pkg.Version, "@")
	sum := hex.EncodeToString(h.Sum(nil))
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sums == nil {
		u.sums = map[string]string{}
	}
	u.sums[name] = sum
	if want, planned := u.want[name]; planned && want != sum {
		return fmt.Errorf("the plugin %s %w", name, errPluginMoved)
	}
	return nil
}

// errPluginMoved is returned when a plugin differs from the plan's.
var errPluginMoved = errors.New("is not the one that the plan was made with: its executable has another checksum")

// notePlugin records a plugin that is about to be started.
func (p *Providers) notePlugin(pkg provider.Package) error {
	loc, err := p.finder.Host.Find(pkg.Name, pkg.Version)
	if err != nil || loc.Path == "" {
		return nil // Load returns a better error, or downloads it
	}
	return p.used.note(pkg, loc.Path)
}

// pluginsHold returns an error if an installed plugin differs from the plan's, before anything is done.
func (b *planBinding) pluginsHold(providers *Providers) error {
	if b == nil {
		return nil
	}
	providers.used.want = b.Plugins
	for _, key := range slices.Sorted(maps.Keys(b.Plugins)) {
		name, version, _ := strings.Cut(key, "@")
		err := providers.notePlugin(provider.Package{Name: name, Version: version})
		if errors.Is(err, errPluginMoved) {
			return refusedPlan("%w", err)
		}
	}
	return nil
}
