package editor

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Link is a path of a file or folder in a text.
type Link struct {
	At     diag.Range // in the whole text, without quotes
	Target string     // absolute path, which need not exist

	written string // the path in the text, with slashes
	dir     string // base of a relative path
}

// Links returns the paths in a file: included files, packages in folders, sources of dynamic providers, and constant
// arguments that builtins.Param.Path marks. A pattern is a link if it matches exactly one file. The file need not
// exist: an editor offers to create it.
func Links(ctx context.Context, s *Snapshot, path string) ([]Link, error) {
	p, err := s.Program(ctx, path)
	document := s.Text(path)
	if err != nil || document == nil {
		return nil, err
	}
	// Sources and packages are relative to the text of the program, also in an included file.
	l := linker{p: p, path: path, dir: filepath.Dir(p.Main)}
	// Spans need no check, so files of packages and broken programs have these links, too.
	for _, section := range document.Spans() {
		switch {
		case strings.EqualFold(section.Name, "include"):
			l.included(section)
		case section.Name == "packages" && section.Kind == parser.MapSpan:
			for _, entry := range section.Children {
				l.pkg(entry)
			}
		}
	}
	if p.Checked == nil {
		return l.links, nil
	}
	for _, d := range p.File.Dynamic {
		if d.Provider != nil {
			l.add(d.Provider.Range, l.dir, d.Path())
		}
	}
	// Functions read paths relative to the folder that the checker uses, which may differ from that of the text.
	dir := p.Check.ProgramDir
	if !filepath.IsAbs(dir) {
		dir = l.dir
	}
	p.walk(func(e ast.Expr) {
		if call, ok := e.(*ast.Call); ok {
			for _, argument := range pathArguments(p.Checked.Call(call)) {
				if text, ok := argument.(*ast.String); ok {
					l.add(text.Range(), dir, text.Value)
				}
			}
		}
	})
	return l.links, nil
}

// pathArguments returns the arguments of a call that are paths, in either form of the call.
func pathArguments(call *check.Call) (paths []ast.Expr) {
	if call == nil || call.Func == nil {
		return nil
	}
	for i, argument := range call.Args {
		if i < len(call.Func.Params) && call.Func.Params[i].Path {
			paths = append(paths, argument)
		}
	}
	return paths
}

// linker collects the links of one file.
type linker struct {
	p     *Program
	path  string
	dir   string // folder of the program's text
	links []Link
}

// add adds a link. A path in another file of the program belongs to that file's links.
func (l *linker) add(rng diag.Range, dir, name string) {
	where := Location{Path: l.path, At: rng}
	if l.p.File != nil {
		where = l.p.location(rng)
	}
	// Sources of dynamic providers may have the name of an export behind the path.
	name = strings.TrimSpace(name)
	if where.Path != l.path || name == "" || where.At.IsZero() {
		return
	}
	target := filepath.FromSlash(name)
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	where.At = unquoted(where.At)
	if slices.ContainsFunc(l.links, func(other Link) bool { return other.At == where.At }) {
		return // a YAML alias repeats a range
	}
	l.links = append(l.links, Link{At: where.At, Target: target, written: name, dir: dir})
}

// unquoted returns the range of a text without its quotes.
func unquoted(r diag.Range) diag.Range {
	if text := r.Text(); len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		return diag.NewRange(r.Source, int(r.Start)+1, int(r.End)-1)
	}
	return r
}

// included adds the patterns of the section include. Which files a pattern matches is known from the places of the
// declarations that they have brought, without looking at the disk.
func (l *linker) included(section parser.Span) {
	patterns := section.Children
	if section.Kind == parser.ScalarSpan {
		patterns = []parser.Span{section}
	}
	for _, pattern := range patterns {
		if pattern.Kind != parser.ScalarSpan {
			continue
		}
		name := unquoted(pattern.Value).Text()
		if !strings.ContainsAny(name, "*?[") {
			l.add(pattern.Value, l.dir, name)
			continue
		}
		if l.p.File == nil {
			continue
		}
		found := map[string]bool{}
		l.p.eachDeclaration(func(r diag.Range) {
			path := l.p.location(r).Path
			rel, err := filepath.Rel(l.dir, path)
			ok, _ := filepath.Match(filepath.Clean(filepath.FromSlash(name)), rel)
			// The text itself is never included.
			if err == nil && ok && path != l.p.Main {
				found[path] = true
			}
		})
		if len(found) == 1 {
			for path := range found {
				l.add(pattern.Value, l.dir, path)
			}
		}
	}
}

// pkg links a package that is given by its path, relative to the declaring file. The target is the package's program
// file if it has one.
func (l *linker) pkg(entry parser.Span) {
	value := entry.Value
	for _, field := range entry.Children {
		if field.Name == "source" {
			value = field.Value
		}
	}
	name := unquoted(value).Text()
	local := strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || filepath.IsAbs(name)
	if !local || strings.ContainsAny(name, "\n{[") {
		return
	}
	target := filepath.FromSlash(name)
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(l.path), target)
	}
	for _, program := range []string{"PulumiPlugin.yaml", "PulumiPlugin.yml", "PulumiPlugin.json"} {
		if l.p.Check.Stat != nil {
			if _, err := l.p.Check.Stat(filepath.Join(target, program)); err == nil {
				target = filepath.Join(target, program)
				break
			}
		}
	}
	l.add(value, "", target)
}

// Moved returns the edits of open texts, by path, that update links after a file or folder moves. from and to are
// absolute paths. Patterns that match several files stay. It is asked before the files move, while the links still lead
// to them.
func Moved(ctx context.Context, s *Snapshot, from, to string) (map[string][]diag.Edit, error) {
	edits := map[string][]diag.Edit{}
	for _, path := range s.Paths() {
		links, err := Links(ctx, s, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // the project cannot be read
		}
		for _, link := range links {
			rel, err := filepath.Rel(from, link.Target)
			// A link to something inside of a folder that moves has to follow.
			if err != nil || rel != "." && !filepath.IsLocal(rel) {
				continue
			}
			if text, ok := renamedPath(link, filepath.Join(to, rel)); ok {
				edits[path] = append(edits[path], diag.Edit{Range: link.At, Text: text})
			}
		}
	}
	return edits, nil
}

// renamedPath returns the text of a link for a new target. Text after the path, such as the name of an export, stays.
// It reports false if the path is written with escapes or cannot be made relative. The new path is written as the old
// one was: absolute, or relative to the same folder, with ./ if it had that.
func renamedPath(link Link, target string) (string, bool) {
	behind, ok := strings.CutPrefix(link.At.Text(), link.written)
	if !ok {
		return "", false // written with escapes
	}
	if filepath.IsAbs(filepath.FromSlash(link.written)) {
		return filepath.ToSlash(target) + behind, true
	}
	rel, err := filepath.Rel(link.dir, target)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if strings.HasPrefix(link.written, "./") && !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel + behind, true
}
