package editor

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// settingsKeys are the top-level keys of a stack's settings file.
var settingsKeys = []string{"config", "environment", "secretsprovider", "encryptionsalt", "encryptedkey"}

// declaredConfig returns the configuration that the program of a settings file declares, and that program. A settings
// file is not checked by itself: what its keys mean is declared in the program, which is checked as any other.
func (s *Snapshot) declaredConfig(ctx context.Context, settings *Program) ([]*check.Node, *Program) {
	p, err := s.Program(ctx, settings.SettingsOf)
	if err != nil || p.Checked == nil {
		return nil, nil
	}
	var nodes []*check.Node
	for _, n := range p.Checked.Nodes {
		// Keys that no text declares are those that the stack has already.
		if n.Config != nil && n.Config.Decl != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, p
}

// completeSettings returns the completions in a stack's settings file or an environment.
func (s *Snapshot) completeSettings(ctx context.Context, settings *Program, c parser.Context) []Item {
	nodes, program := s.declaredConfig(ctx, settings)
	if path, ok := settings.environmentPath(c.Path); ok {
		return settings.completeEnvironment(c, path, nodes, program)
	}
	switch {
	case len(c.Path) == 0 && c.Kind == parser.KeyCursor:
		items := keys(KeyItem, settingsKeys...)
		// A section has its keys below and not behind the colon.
		items[0].Insert = "config:"
		return items
	case len(c.Path) == 1 && c.Path[0] == "config" && c.Kind == parser.KeyCursor:
		return configItems(nodes, "")
	case len(c.Path) == 2 && c.Path[0] == "config" && c.Kind == parser.ValueCursor:
		for _, n := range nodes {
			if setBy(program.Checked, c.Path[1], n) && schema.Required(n.Type) == schema.Type(schema.Bool) {
				return values(yesNo...)
			}
		}
	}
	return nil
}

// configItems returns completions for configuration keys, without a prefix.
func configItems(nodes []*check.Node, prefix string) (items []Item) {
	for _, n := range nodes {
		key := strings.TrimPrefix(n.Config.Key, prefix)
		items = append(items, Item{Label: key, Kind: PropertyItem, Insert: key + ": ", Detail: configDetail(n),
			Docs: n.Config.Decl.Description.Text(), First: n.Config.Decl.Default == nil &&
				n.Config.Decl.Optional == nil})
	}
	return items
}

// namespaced corrects a cursor right behind the colon of a namespace. That colon is part of a key, not its end. In a
// program a colon ends a key; here `aws:` is the beginning of one.
func namespaced(text []byte, offset int, c parser.Context) parser.Context {
	if c.Kind != parser.ValueCursor || c.Typed != "" || len(c.Path) != 2 || offset == 0 || text[offset-1] != ':' {
		return c
	}
	name := c.Path[1]
	c.Kind, c.Path, c.Typed, c.Start, c.End = parser.KeyCursor, c.Path[:1], name+":", offset-len(name)-1, offset
	return c
}

// configDetail returns the type of a declared configuration value, and whether it is secret.
func configDetail(n *check.Node) string {
	detail := schema.TypeName(n.Type)
	if n.Config.Decl.Secret.IsTrue() {
		detail += ", secret"
	}
	return detail
}

// hoverSettings describes the key at an offset of a stack's settings file, or returns nil.
func (s *Snapshot) hoverSettings(ctx context.Context, settings *Program, path string, offset int) *Hover {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	if hover := settings.hoverEnvironment(document.Spans(), offset, nil); hover != nil {
		return hover
	}
	_, n, key := s.setting(ctx, settings, path, offset)
	if n == nil {
		return nil
	}
	return &Hover{Text: page("config "+n.Name+": "+configDetail(n), "", n.Config.Decl.Description.Text()), At: key}
}

// setting returns the program, its declaration of the configuration key at an offset of a stack's settings file, and
// the range of the key. They are nil if the program does not declare the key.
func (s *Snapshot) setting(ctx context.Context, settings *Program, path string, offset int) (*Program, *check.Node,
	diag.Range) {
	key, ok := configKeyAt(s.Text(path), offset)
	if !ok {
		return nil, nil, diag.Range{}
	}
	nodes, p := s.declaredConfig(ctx, settings)
	i := slices.IndexFunc(nodes, func(n *check.Node) bool { return setBy(p.Checked, key.Name, n) })
	if i < 0 {
		return nil, nil, diag.Range{}
	}
	return p, nodes[i], key.Key
}

// setBy reports whether a key in a stack's settings sets a configuration value of the program: the key may be in the
// short form, without the project's namespace, or in the old one (L2.1).
func setBy(p *check.Program, key string, n *check.Node) bool {
	switch parts := strings.Split(key, ":"); {
	case len(parts) == 1:
		key = p.Name + ":" + key
	case len(parts) == 3 && parts[1] == "config":
		key = parts[0] + ":" + parts[2]
	}
	return n.Config.Key == key
}

// configKeyAt returns the entry of the section config whose key is at an offset. It reports false if there is none, or
// if the file is not open.
func configKeyAt(document *parser.Document, offset int) (parser.Span, bool) {
	if document == nil {
		return parser.Span{}, false
	}
	sections := document.Spans()
	if i := keyed(sections, "config"); i >= 0 {
		for _, entry := range sections[i].Children {
			if entry.Key.Contains(offset) {
				return entry, true
			}
		}
	}
	return parser.Span{}, false
}

// environmentPath maps a path in an environment, or in a settings file's inline environment, to a path from the root of
// the environment. It reports false for other paths of a settings file.
func (p *Project) environmentPath(path []string) ([]string, bool) {
	if p.IsEnvironment {
		// The rest below environment is an environment written in place.
		return path, true
	}
	if len(path) == 0 || path[0] != "environment" {
		return nil, false
	}
	if path = path[1:]; len(path) == 1 && path[0] == "[]" { // a list of names means imports
		return []string{"imports", "[]"}, true
	}
	return path, true
}

// completeEnvironment returns the completions below a path of an environment. nodes are the declared configuration of
// program, which may be nil.
func (p *Project) completeEnvironment(c parser.Context, path []string, nodes []*check.Node, program *Program) []Item {
	if slices.Equal(path, []string{"imports", "[]"}) && p.Environments != nil {
		return values(p.Environments()...)
	}
	items := (&completer{cursor: c}).language(path, "environment")
	if slices.Equal(path, []string{"values", "pulumiConfig"}) && program != nil && c.Kind == parser.KeyCursor {
		items = append(configItems(nodes, program.Checked.Name+":"), items...)
	}
	return items
}

// hoverEnvironment describes the key of an environment at an offset, or returns nil. path is the path of entries.
func (p *Project) hoverEnvironment(entries []parser.Span, offset int, path []string) *Hover {
	for _, entry := range entries {
		step := stepOf(entry)
		// Clip makes append copy: the siblings share path.
		below := append(slices.Clip(path), step)
		if !entry.Key.Contains(offset) {
			if found := p.hoverEnvironment(entry.Children, offset, below); found != nil {
				return found
			}
			continue
		}
		inside, ok := p.environmentPath(below)
		if !ok || len(inside) == 0 {
			continue
		}
		// The description of a key stands in the schema of the map that contains it.
		nodes := alternatives(refTo("environment"))
		for _, above := range inside[:len(inside)-1] {
			nodes = under(nodes, above)
		}
		for _, node := range nodes {
			properties, _ := node["properties"].(jsonNode)
			member, _ := properties[step].(jsonNode)
			if text, _ := member["description"].(string); text != "" {
				return &Hover{Text: page(step, "", text), At: entry.Key}
			}
		}
	}
	return nil
}
