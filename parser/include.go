package parser

import (
	"maps"
	"path"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file reads programs that consist of several texts: the section include, an extension of yamlhost (L10.C11).

// maxIncluded is the maximum number of texts that a program includes.
const maxIncluded = 1000

// withIncluded reads a program with all texts that it includes, directly or indirectly. All texts share one namespace.
func (o *outline) withIncluded() (*ast.File, diag.Diagnostics) {
	texts := []*outline{o}
	unread := []*yamlText{} // included texts that could not be parsed
	seen := map[string]bool{o.in.text.Source.Name(): true}
	for i := 0; i < len(texts); i++ {
		includer := texts[i]
		for _, pattern := range includer.patterns() {
			for _, src := range includer.find(pattern) {
				if seen[src.Name()] {
					continue
				}
				if seen[src.Name()] = true; len(texts) > maxIncluded {
					includer.in.report.fail(diag.RunawayInput, pattern.Range, "", "a program has at most %d files", maxIncluded)
					break
				}
				text := newText(src)
				if included := text.outline(o.options, true); included != nil {
					texts = append(texts, included)
				} else {
					unread = append(unread, text)
				}
			}
		}
	}
	names := make(map[string]bool)
	for _, t := range texts {
		maps.Copy(names, t.sections.names(t.options.Declared...))
	}
	whole := o.file
	taken := make(map[string]diag.Range)
	for _, t := range texts {
		t.read(names)
		if t != o {
			for _, c := range t.file.Config {
				if strings.Contains(c.Name.Value, ":") {
					t.in.report.fail(diag.UnknownKey, c.Name.Range, "declare it in the file that includes this one",
						"an included file cannot have configuration of another namespace")
				}
			}
			whole.Slips = append(whole.Slips, t.file.Slips...)
			whole.Config = append(whole.Config, t.file.Config...)
			whole.Variables = append(whole.Variables, t.file.Variables...)
			whole.Resources = append(whole.Resources, t.file.Resources...)
			whole.Outputs = append(whole.Outputs, t.file.Outputs...)
			whole.Components = append(whole.Components, t.file.Components...)
			whole.Hooks = append(whole.Hooks, t.file.Hooks...)
			whole.Dynamic = append(whole.Dynamic, t.file.Dynamic...)
			whole.Messages = append(whole.Messages, t.file.Messages...)
			whole.Policies = append(whole.Policies, t.file.Policies...)
			whole.Transforms = append(whole.Transforms, t.file.Transforms...)
		}
		t.once(taken)
	}
	var diags diag.Diagnostics
	for _, t := range texts {
		diags.Add(t.in.report.diags...)
	}
	for _, text := range unread {
		diags.Add(text.report.diags...)
	}
	return whole, diags
}

// patterns returns the patterns in the section include.
func (o *outline) patterns() []ast.Literal {
	s := o.sections["include"]
	if s == nil {
		return nil
	}
	patterns := s.in.nodes.literals(s.entry, "`include`", "the name of a file")
	for i := range patterns {
		s.in.report.slash(&patterns[i])
	}
	return patterns
}

// find returns the texts that match a pattern. It reports an error if there are none.
func (o *outline) find(pattern ast.Literal) []*diag.Source {
	clean := path.Clean(pattern.Value)
	switch {
	case o.options.Include == nil:
		o.in.report.fail(diag.UnknownKey, o.sections["include"].entry.at, "", "files cannot be included here")
		return nil
	case path.IsAbs(clean), clean == "..", strings.HasPrefix(clean, "../"), strings.Contains(pattern.Value, ":"):
		o.in.report.fail(diag.NoProgram, pattern.Range, "name files in the program's folder", "`%s` is outside of the program",
			diag.Excerpt(pattern.Value))
		return nil
	}
	found, err := o.options.Include(pattern.Value)
	switch {
	case err != nil:
		o.in.report.fail(diag.NoProgram, pattern.Range, "", "`%s` cannot be included: %s", diag.Excerpt(pattern.Value), err)
	case len(found) == 0:
		o.in.report.fail(diag.NoProgram, pattern.Range, "names are relative to the program's folder",
			"there is no file `%s` to include", diag.Excerpt(pattern.Value))
	}
	return found
}

// once reports names that an earlier text has declared already. taken holds the names declared so far. Duplicates
// within one text have been reported before.
func (o *outline) once(taken map[string]diag.Range) {
	for kind, d := range o.file.Declarations() {
		name := d.Name
		first, again := taken[kind+" "+name.Value]
		switch {
		case !again:
			taken[kind+" "+name.Value] = name.Range
		case first.Source.Name() != name.Range.Source.Name():
			d := o.in.report.fail(diag.Duplicate, name.Range, "rename one of the two", "the %s `%s` is declared in %s already", kind,
				diag.Excerpt(name.Value), first.Source.Name())
			d.Related = []diag.Related{{Range: first, Message: "declared here first"}}
		}
	}
}
