package causes

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Facts are what an Explainer knows beside the steps.
type Facts struct {
	Program *check.Program
	// Root is the folder of the project, and Path returns the absolute path of a source.
	Root string
	Path func(source string) string
	// Config is the configuration of this operation, and Record the form of it that the history keeps.
	Config map[project.Key]project.Text
	Record map[string]json.RawMessage
	// Former returns the configurations of the operations before, in the form of the history, back to the last one that
	// has applied the whole program; nil if that is not known. It is called at most once, and only if a change depends
	// on configuration.
	Former func() []map[string]json.RawMessage
	// Destroys reports whether the operation deletes everything in its scope, whatever the program has.
	Destroys bool
}

// Explainer finds the causes of the changes of one program.
type Explainer struct {
	facts  Facts
	sites  map[string]site // by source position; nil until it is needed
	files  map[*diag.Source]string
	former []map[string]json.RawMessage
	asked  bool // whether former has been asked for
}

var _ change.Explainer = (*Explainer)(nil)

// New returns an Explainer.
func New(f Facts) *Explainer { return &Explainer{facts: f, files: map[*diag.Source]string{}} }

// site is the declaration of a resource.
type site struct {
	body *check.Program
	node *check.Node
}

// frame is where an expression is evaluated: in a body, for a resource, whose step leads to what it depends on.
type frame struct {
	site
	step *engine.Step
	deps []urn.URN // what the expression's value depends on
}

// siteOf returns the declaration of a resource; ok is false for one that the program does not declare.
func (x *Explainer) siteOf(r *state.Resource) (site, bool) {
	if r == nil || r.SourcePosition == "" || x.facts.Program == nil {
		return site{}, false
	}
	if x.sites == nil {
		x.sites = map[string]site{}
		x.add(x.facts.Program)
	}
	found, ok := x.sites[r.SourcePosition]
	return found, ok
}

func (x *Explainer) add(body *check.Program) {
	for _, n := range body.Nodes {
		if n.Kind == check.ResourceNode {
			x.sites[x.position(n.Resource.Decl.Name.Range)] = site{body, n}
		}
	}
	for _, c := range body.Components {
		if c.Body != nil && c.Body != body {
			x.add(c.Body)
		}
	}
}

// position returns a range's start as states record it.
func (x *Explainer) position(r diag.Range) string {
	if r.IsZero() {
		return ""
	}
	start := r.StartPosition()
	return "project:///" + x.file(r.Source) + "#" + strconv.Itoa(start.Line) + "," + strconv.Itoa(start.Column)
}

func (x *Explainer) file(src *diag.Source) string {
	name, known := x.files[src]
	if !known {
		rel, err := filepath.Rel(x.facts.Root, x.facts.Path(src.Name()))
		if err != nil {
			rel = src.Name()
		}
		name = filepath.ToSlash(rel)
		x.files[src] = name
	}
	return name
}

// at returns the place of a range.
func (x *Explainer) at(r diag.Range) change.Place {
	if r.IsZero() {
		return change.Place{}
	}
	return change.Place{File: x.file(r.Source), Line: r.StartPosition().Line}
}

// placeOf returns the place of a source position of the state.
func placeOf(position string) change.Place {
	text, _ := strings.CutPrefix(position, "project:///")
	file, rest, found := strings.Cut(text, "#")
	if !found {
		return change.Place{}
	}
	line, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.Atoi(line)
	return change.Place{File: file, Line: n}
}

// Place returns the place of a resource in the program.
func (x *Explainer) Place(s *engine.Step) change.Place {
	if s.New == nil {
		return change.Place{}
	}
	if _, recorded := s.Place(); recorded { // other text may stand there now
		if here, declared := x.siteOf(s.New); !declared || !names(here.node.Resource, s.New.URN) {
			return change.Place{}
		}
	}
	return placeOf(s.New.SourcePosition)
}

// names reports whether a declaration makes a resource of that name, by itself or in a component.
func names(declared *check.Resource, u urn.URN) bool {
	name, own := "-"+u.Name(), "-"+declared.LogicalName
	return declared.Token == u.Type() && (strings.HasSuffix(name, own) ||
		declared.Decl.ForEach != nil && strings.Contains(name, own+"-"))
}

// nodes returns the resources of the program itself. Those of components come with their instances.
func (x *Explainer) nodes() (list []*check.Node) {
	if x.facts.Program == nil {
		return nil
	}
	for _, n := range x.facts.Program.Nodes {
		if n.Kind == check.ResourceNode {
			list = append(list, n)
		}
	}
	return list
}
