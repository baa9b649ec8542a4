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

// Opener finds the program that a file is part of.
type Opener interface {
	// Open reads what belongs to the program of a file, given by its absolute path. A text that is open in the editor
	// stands for the file on disk. It is called from one goroutine at a time for one snapshot.
	Open(ctx context.Context, path string, open func(path string) *parser.Document) (*Project, error)
	// Name is how findings call a file.
	Name(path string) string
	// Forget drops what was read of files and may have changed since.
	Forget()
}

// Project is a program before it is parsed and checked, with all that this takes.
type Project struct {
	Main     string           // absolute path of the program's text
	Document *parser.Document // that text
	Parse    parser.Options
	// Declare adds what is declared beside the program to its tree; nil where there is nothing.
	Declare func(*ast.File) *ast.File
	Check   check.Options
	// Join puts what parsing and checking found together with what is wrong around the program.
	Join func(found diag.Diagnostics) diag.Diagnostics
	// Path is the absolute path of a file by the name that findings call it by.
	Path func(name string) string
	// Settings are the files of the program's stacks, with the texts that are open in place of files; nil where there are
	// none.
	Settings func() []*parser.Document
	// Packages are the names of the packages that are known. It must not know the texts that are open: it outlives them.
	Packages func() []string
	// Files lists the names in a folder, by its path from the program, folders with a slash at the end; nil where
	// there are none.
	Files func(folder string) []string
	// State returns the recorded state of the selected stack; nil, or a nil answer, where nothing is known. It is safe
	// for concurrent use and opens no secret.
	State func(ctx context.Context) *State
	// SettingsOf is the absolute path of the program whose stack's settings a file is; empty for a program.
	SettingsOf string
	// IsEnvironment reports whether the file is an environment for stacks of the program, and no stack's settings file.
	IsEnvironment bool
	// Environments are the names that an environment or a stack can import; nil where they are not known.
	Environments func() []string
}

// Session holds the texts that are open in an editor. It is safe for concurrent use.
type Session struct {
	opener  Opener
	colored tokenParts

	mu      sync.Mutex
	current *Snapshot // guarded by mu
}

// NewSession makes a session without texts.
func NewSession(opener Opener) *Session {
	s := &Session{opener: opener}
	s.current = &Snapshot{session: s, texts: map[string]*parser.Document{}, programs: map[string]*Program{}}
	return s
}

// Snapshot returns the open files as they are now.
func (s *Session) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Open adds a text, by the absolute path of its file.
func (s *Session) Open(path, text string) {
	name := s.opener.Name(path)
	s.change(func(texts map[string]*parser.Document) {
		texts[path] = parser.NewDocument(diag.NewSource(name, []byte(text)))
	})
}

// Edit changes a text that is open; it does nothing to another one.
func (s *Session) Edit(path string, edits ...parser.Edit) {
	s.change(func(texts map[string]*parser.Document) {
		if document := texts[path]; document != nil {
			texts[path] = document.Edit(edits...)
		}
	})
}

// Close forgets a text: from now on the file counts.
func (s *Session) Close(path string) {
	s.colored.keep(path, nil)
	s.change(func(texts map[string]*parser.Document) { delete(texts, path) })
}

// Refresh forgets what was read of files, because some of them have changed.
func (s *Session) Refresh() {
	s.opener.Forget()
	s.change(func(map[string]*parser.Document) {})
}

func (s *Session) change(fn func(texts map[string]*parser.Document)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := maps.Clone(s.current.texts)
	fn(texts)
	s.current = &Snapshot{session: s, texts: texts, programs: map[string]*Program{}, before: s.current.latest()}
}

// Snapshot is the texts of one moment. It is immutable and safe for concurrent use; what is asked of it is worked out
// once.
type Snapshot struct {
	session *Session
	texts   map[string]*parser.Document

	work sync.Mutex // held while a program is checked: what others want to know may be in it

	mu       sync.Mutex          // held for moments only
	programs map[string]*Program // by the path of any of their files; guarded by mu
	before   map[string]*Program // the same, of snapshots before; guarded by mu
}

// Apart returns a snapshot of the same texts with a cache of its own, which is freed together with it.
func (s *Snapshot) Apart() *Snapshot {
	return &Snapshot{session: s.session, texts: s.texts, programs: map[string]*Program{}}
}

// latest returns the programs by the paths of their files that are known here or were known before.
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

// lasting returns a program as later snapshots may keep it: it knows nothing of the snapshot that it was read in, which
// would keep all that were before alive.
func (p *Program) lasting() *Program {
	return &Program{Project: &Project{Main: p.Main, Document: p.Document, Check: p.Check, Packages: p.Packages,
		Files: p.Files},
		File: p.File, Checked: p.Checked}
}

// known returns the program of a file, if it has been checked; else, as it was when it was checked last. Either may be
// nil.
func (s *Snapshot) known(path string) (now, last *Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.programs[path], s.before[path]
}

func (s *Snapshot) learn(p *Program, paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.programs[path] = p
	}
}

// Text returns a text that is open; nil for another file.
func (s *Snapshot) Text(path string) *parser.Document { return s.texts[path] }

// Paths returns the files that are open.
func (s *Snapshot) Paths() []string {
	return slices.Collect(maps.Keys(s.texts))
}

// Program is a program as the checker knows it, with everything that was found.
type Program struct {
	*Project
	File     *ast.File
	Checked  *check.Program
	Findings diag.Diagnostics // with places in whole texts
}

// Recent returns the program of a file from its last check, which may precede the latest edits: it is for answers
// that must come at once. It checks a file that has not been checked yet.
func (s *Snapshot) Recent(ctx context.Context, path string) (*Program, error) {
	now, last := s.known(path)
	if now == nil && last != nil && last.Checked != nil {
		return last, nil
	}
	return s.Program(ctx, path)
}

// Program parses and checks the program of a file. It returns the context's error, or an error if the project cannot
// be read.
func (s *Snapshot) Program(ctx context.Context, path string) (*Program, error) {
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
	now, last := s.known(project.Main)
	if now != nil {
		s.learn(now, path)
		return now, nil
	}
	p := &Program{Project: project}
	var found diag.Diagnostics
	if p.Document != nil {
		p.File, found = p.Document.File(p.Parse)
		if p.Declare != nil {
			p.File = p.Declare(p.File)
		}
		var checked diag.Diagnostics
		options := p.Check
		if last != nil {
			options.Previous = last.Checked
		}
		p.Checked, checked = check.Check(ctx, p.File, options)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		found = p.File.Origins.Findings(append(found, checked...))
	}
	p.Findings = p.Join(found).Sorted()
	s.learn(p, path, p.Main)
	return p, nil
}

// PathOf returns the absolute path of the file that a place is in.
func (p *Program) PathOf(rng diag.Range) string {
	if rng.Source == nil || p.Document != nil && rng.Source == p.Document.Source() {
		return p.Main
	}
	return p.Path(rng.Source.Name())
}
