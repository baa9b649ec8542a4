package editor

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Opener finds the program that contains a file.
type Opener interface {
	// Open reads the program that contains the file at an absolute path. open returns the text of a file that is open
	// in the editor; that text replaces the file on disk. One snapshot calls Open from one goroutine at a time.
	Open(ctx context.Context, path string, open func(path string) *parser.Document) (*Project, error)
	// Name returns the name of a file in findings.
	Name(path string) string
	// Forget drops cached file contents that may be stale.
	Forget()
}

// Project is a program that is not parsed yet, with everything needed to parse and check it. Its functions may be
// called as long as a snapshot lives, from any goroutine, except for Join, which is called once.
type Project struct {
	// Main is the absolute path of the program's text. For a file that Join alone checks it is that file, or the
	// project file.
	Main string
	// Document is that text. It is nil for settings, environments, test files and projects without a program's text:
	// nothing is parsed for them, and Join returns all findings.
	Document *parser.Document
	Parse    parser.Options
	// Declare adds declarations from outside the program's text to its tree; nil if there are none.
	Declare func(*ast.File) *ast.File
	Check   check.Options
	// Join adds the findings about the project's other files to those of parsing and checking.
	Join func(found diag.Diagnostics) diag.Diagnostics
	// Path returns the absolute path of a file by its name in findings.
	Path func(name string) string
	// Settings returns the settings files of the program's stacks; open texts replace files. It may be nil.
	Settings func() []*parser.Document
	// Packages returns the names of the known packages. It outlives the snapshot, so it must not refer to open texts.
	Packages func() []string
	// Files lists the names in a folder, given relative to the program; names of folders end with a slash. It is nil if
	// files cannot be listed.
	Files func(folder string) []string
	// State returns the recorded state of the selected stack, or nil if there is none. It may be nil. It is safe for
	// concurrent use and decrypts no secret.
	State func(ctx context.Context) *State
	// SettingsOf is the absolute path of the program's text or project file that a settings file, an environment or a
	// test file belongs to. It is empty for a program, and for a test file outside of projects.
	SettingsOf string
	// IsEnvironment reports whether the file is an environment for stacks of the program, not a stack's settings file.
	// It is set only together with SettingsOf.
	IsEnvironment bool
	// Environments returns the names that an environment or a stack can import. It is nil if they are not known.
	Environments func() []string
}

// Session holds the texts open in an editor. It is safe for concurrent use. It owns the texts; a Program belongs to the
// snapshot that has checked it.
type Session struct {
	opener Opener
	// colored outlives snapshots: the next answer reuses the tokens of parts that an edit has not changed.
	colored tokenParts

	mu      sync.Mutex
	current *Snapshot // guarded by mu
}

// NewSession returns a session without texts.
func NewSession(opener Opener) *Session {
	s := &Session{opener: opener}
	s.current = &Snapshot{session: s, texts: map[string]*parser.Document{}, programs: map[string]*Program{}}
	return s
}

// Snapshot returns the open files as they are now. work is taken before mu, never after it.
func (s *Session) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Open adds the text of the file at an absolute path.
func (s *Session) Open(path, text string) {
	// Outside of the lock: it may look for the project on the disk.
	name := s.opener.Name(path)
	s.change(func(texts map[string]*parser.Document) {
		texts[path] = parser.NewDocument(diag.NewSource(name, []byte(text)))
	})
}

// Edit changes an open text. It does nothing if the file is not open.
func (s *Session) Edit(path string, edits ...parser.Edit) {
	s.change(func(texts map[string]*parser.Document) {
		if document := texts[path]; document != nil {
			texts[path] = document.Edit(edits...)
		}
	})
}

// Close drops a text; from now on the file on disk is used.
func (s *Session) Close(path string) {
	// The tokens hold parts of the text, which would stay in memory.
	s.colored.keep(path, nil)
	s.change(func(texts map[string]*parser.Document) { delete(texts, path) })
}

// Refresh drops cached file contents after files have changed on disk.
func (s *Session) Refresh() {
	s.opener.Forget()
	// The texts are the same, and their programs are checked again.
	s.change(func(map[string]*parser.Document) {})
}

// change makes a new snapshot with other texts. Snapshots are never changed: a request that is being answered goes on
// with the texts that it began with, and nobody waits for it. It locks the current snapshot while it holds s.mu;
// nothing takes the two locks in the other order.
func (s *Session) change(fn func(texts map[string]*parser.Document)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := maps.Clone(s.current.texts)
	fn(texts)
	s.current = &Snapshot{session: s, texts: texts, programs: map[string]*Program{}, before: s.current.latest()}
}

// Snapshot holds the open texts at one moment. It is immutable, safe for concurrent use, and caches checked programs.
type Snapshot struct {
	session *Session
	texts   map[string]*parser.Document

	work sync.Mutex // held while a program is checked, so that concurrent callers check it once

	mu       sync.Mutex          // held briefly
	programs map[string]*Program // by the path of any of their files; guarded by mu
	before   map[string]*Program // programs of earlier snapshots, by the same paths; guarded by mu
}

// Apart returns a snapshot of the same texts with a cache of its own, which is freed together with it. It serves
// programs that are not open: keeping those of a whole workspace would take too much memory.
func (s *Snapshot) Apart() *Snapshot {
	return &Snapshot{session: s.session, texts: s.texts, programs: map[string]*Program{}}
}

// latest returns the last checked program of each file, from this snapshot or earlier ones.
func (s *Snapshot) latest() map[string]*Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := maps.Clone(s.before)
	if known == nil {
		known = map[string]*Program{}
	}
	for path, p := range s.programs {
		known[path] = p.lasting()
	}
	return known
}

// lasting returns a copy of p for later snapshots. The copy does not refer to the snapshot of p, which would keep all
// earlier snapshots alive.
func (p *Program) lasting() *Program {
	return &Program{Project: &Project{Main: p.Main, Document: p.Document, Check: p.Check, Packages: p.Packages,
		Files: p.Files},
		File: p.File, Checked: p.Checked, left: p.left}
}

// known returns the program of a file in this snapshot and the one from its last check before. Either may be nil.
func (s *Snapshot) known(path string) (now, last *Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.programs[path], s.before[path]
}

// learn caches the program of the files at paths.
func (s *Snapshot) learn(p *Program, paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.programs[path] = p
	}
}

// Text returns the text of an open file, or nil if the file is not open.
func (s *Snapshot) Text(path string) *parser.Document { return s.texts[path] }

// Paths returns the absolute paths of the open files, in no order.
func (s *Snapshot) Paths() []string {
	return slices.Collect(maps.Keys(s.texts))
}

// Program is a checked program with its findings.
type Program struct {
	*Project
	File     *ast.File
	Checked  *check.Program
	left     *check.Snapshot  // of the check, for the next one
	Findings diag.Diagnostics // with ranges in whole texts
}

// Recent returns the program of a file from its last check, which may precede the latest edits. Use it for answers that
// must not wait. It checks a file that has not been checked yet. Completion must answer within a keystroke; what it
// shows of the program is seldom in the line that is being typed. Files without a checked program, such as settings,
// are opened anew, which costs no check.
func (s *Snapshot) Recent(ctx context.Context, path string) (*Program, error) {
	now, last := s.known(path)
	if now == nil && last != nil && last.Checked != nil {
		return last, nil
	}
	return s.Program(ctx, path)
}

// Program parses and checks the program of a file. It returns the context's error, or an error if the project cannot be
// read. Several requests arrive after each keystroke, and all of them need the same check: the first makes it, and the
// others wait for work and find its result. A cancelled check is not kept, so that the next request makes it.
func (s *Snapshot) Program(ctx context.Context, path string) (*Program, error) {
	// The usual case, without waiting for a check of another program.
	if p, _ := s.known(path); p != nil {
		return p, nil
	}
	s.work.Lock()
	defer s.work.Unlock()
	if p, _ := s.known(path); p != nil {
		return p, nil
	}
	project, err := s.session.opener.Open(ctx, path, s.Text)
	if err != nil {
		return nil, err
	}
	// A program is cached under the path of its text and of each file that was asked for, so another of its files may
	// have had it checked. last is then the earlier check of the whole program.
	now, last := s.known(project.Main)
	if now != nil {
		s.learn(now, path)
		return now, nil
	}
	p := &Program{Project: project}
	var found diag.Diagnostics
	// Document.File parses what an edit has changed, Recheck checks what depends on it.
	if p.Document != nil {
		p.File, found = p.Document.File(p.Parse)
		if p.Declare != nil {
			p.File = p.Declare(p.File)
		}
		var checked diag.Diagnostics
		var previous *check.Snapshot
		if last != nil {
			previous = last.left
		}
		p.Checked, p.left, checked = check.Recheck(ctx, p.File, p.Check, previous)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found = p.File.Origins.Findings(append(found, checked...))
	}
	// Join comes after the translation of ranges, since its findings are about whole texts.
	p.Findings = p.Join(found).Sorted()
	s.learn(p, path, p.Main)
	return p, nil
}

// PathOf returns the absolute path of the file that contains a range. A range without a text is of the program as a
// whole.
func (p *Program) PathOf(rng diag.Range) string {
	if rng.Source == nil || p.Document != nil && rng.Source == p.Document.Source() {
		return p.Main
	}
	return p.Path(rng.Source.Name())
}
