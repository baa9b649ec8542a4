package fleet

import (
	"context"
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
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// Progress records which stacks a command has finished, so that --resume skips them after an interruption. The record
// is stored in the Pulumi home folder and contains only names of stacks and digests of their files. A stack whose
// project files have changed since runs again, and so do its dependants. Its methods are safe for concurrent use.
type Progress struct {
	path   string
	resume bool

	mu   sync.Mutex
	done map[string]string // digest of the project's folder by stack; guarded by mu
}

// NewProgress returns the record of a command that runs below root. home is the Pulumi home folder; if it is empty,
// NewProgress returns nil and nothing is recorded.
func NewProgress(home, command, root string, resume bool) *Progress {
	if home == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(command + "\x00" + root))
	path := filepath.Join(home, "yamlhost", "progress", hex.EncodeToString(sum[:8])+".json")
	return &Progress{path: path, resume: resume, done: map[string]string{}}
}

// begin returns the members that need not run again. Without --resume it deletes the old record and returns none.
func (p *Progress) begin(g *projects.Graph) ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.resume {
		err := osfile.Remove(p.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("forget the record of the run before: %w", console.PlainError(err))
		}
		return nil, nil
	}
	text, err := confine.Anywhere().ReadFile(context.Background(), p.path)
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
		runs := func(need int) bool { return !slices.Contains(passed, need) }
		if known[m.Key()] != digest || slices.ContainsFunc(g.Needs(i), runs) {
			continue
		}
		passed = append(passed, i)
		p.done[m.Key()] = digest
	}
	return passed, nil
}

// finish records that a stack is done.
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
	return osfile.Rename(temporary, p.path)
}

// over deletes the record of a command that has finished every stack.
func (p *Progress) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = osfile.Remove(p.path) // if this fails, --resume skips unchanged stacks
}

// digestOf returns a digest of all files that may matter to a run of the project: its project, stack and program files,
// and the files of packages that are used by path.
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
			text, err := confine.Anywhere().ReadFile(context.Background(), filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				return "", fmt.Errorf("look at %s: %w", name, console.PlainError(err))
			}
			one := sha256.Sum256(text)
			fmt.Fprintf(sum, "%q %x\n", name, one)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
