package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Progress is the record of a command over several stacks: which of them it has finished, so that --resume leaves
// them out after an interruption. It is kept in the folder of Pulumi's own files and names stacks only. A stack whose
// project files have changed since runs again, and so do the stacks that need it. Its methods are safe for concurrent
// use.
type Progress struct {
	path   string
	resume bool

	mu   sync.Mutex
	done map[string]string // digest of the project's folder by stack; guarded by mu
}

// NewProgress is the record of a command below a root. It is kept in home, the folder of Pulumi's files; empty keeps
// none.
func NewProgress(home, command, root string, resume bool) *Progress {
	if home == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(command + "\x00" + root))
	path := filepath.Join(home, "yamlhost", "progress", hex.EncodeToString(sum[:8])+".json")
	return &Progress{path: path, resume: resume, done: map[string]string{}}
}

// begin returns the members that need not be done again. Without --resume these are none, and the record begins anew.
func (p *Progress) begin(g *projects.Graph) ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.resume {
		err := os.Remove(p.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("forget the record of the run before: %w", console.PlainError(err))
		}
		return nil, nil
	}
	text, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, console.WithCode(console.CodeBadUsage,
			"--resume: no interrupted run of this command is known here; leave the flag out")
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of the run before: %w", err)
	}
	var known map[string]string
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf("the record of the run before, %s, is damaged; leave --resume out", p.path)
	}
	var passed []int
	for _, i := range g.Order() {
		m := g.Members[i]
		digest, err := digestOf(m)
		if err != nil {
			return nil, err
		}
		if known[m.Key()] != digest {
			continue
		}
		all := true
		for _, need := range g.Needs(i) {
			all = all && slices.Contains(passed, need)
		}
		if all {
			passed = append(passed, i)
			p.done[m.Key()] = digest
		}
	}
	return passed, nil
}

// finish takes note of a stack that is done.
func (p *Progress) finish(m *projects.Member) error {
	digest, err := digestOf(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[m.Key()] = digest
	text, err := json.Marshal(p.done)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	temporary := p.path + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, p.path)
}

// over forgets the record of a command that has done everything.
func (p *Progress) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = os.Remove(p.path) // at worst --resume passes what has not changed
}

// digestOf returns a digest of all files of a project that may matter to its run: the project, stack and program
// files, and the files of packages that are used by path.
func digestOf(m *projects.Member) (string, error) {
	sum := sha256.New()
	dirs := []string{m.Dir}
	for _, pkg := range m.Packages {
		dirs = append(dirs, pkg.Dir)
	}
	for _, dir := range dirs {
		files, err := ProjectFiles(dir)
		if err != nil {
			return "", fmt.Errorf("look at %s: %w", dir, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				return "", fmt.Errorf("look at %s: %w", name, console.PlainError(err))
			}
			one := sha256.Sum256(text)
			fmt.Fprintf(sum, "%q %x\n", name, one)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
