package project

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// written is what a settings file has: the nodes of its sections and of its configuration, keys and values in turn.
type written struct {
	sections, config []*yamlnode.Node
	environment      bool // the section `environment` was changed since
}

// writtenIn returns what the map of a file has.
func writtenIn(root *yamlnode.Node) written {
	w := written{sections: slices.Clone(root.Content)}
	if i := root.Index("config"); i >= 0 && root.Content[i+1].Kind == yamlnode.Map {
		w.config = slices.Clone(root.Content[i+1].Content)
	}
	return w
}

// splicer changes entries of maps in a text and leaves all else as it is.
type splicer struct {
	text  []byte
	edits []splice
	odd   bool // the text has a form in which entries cannot be changed one by one
}

type splice struct {
	start, end int
	text       string
}

// spliced returns the text of the file with the changes since it was read. ok is false for a file whose form allows no
// changes of single entries.
func (s *Settings) spliced() (text []byte, ok bool) {
	if s.root == nil || s.root.Flow() || hasAnchor(s.root) || len(s.before.sections) == 0 {
		return nil, false
	}
	p := &splicer{text: s.Source.Text()}
	if n := len(p.text); n > 0 && p.text[n-1] != '\n' {
		p.text = append(slices.Clip(p.text), '\n')
	}
	wanted := map[string]*yamlnode.Node{} // the sections that were changed or are new; nil for one that has gone
	texts := map[string]string{"secretsprovider": s.SecretsProvider, "encryptedkey": s.EncryptedKey,
		"encryptionsalt": s.EncryptionSalt}
	for name, text := range texts {
		old := s.before.section(name)
		switch {
		case text == "" && old != nil:
			wanted[name] = nil
		case text != "" && (old == nil || old.Value != text):
			wanted[name] = keepComments(scalarNode(text), old)
		}
	}
	if s.before.environment {
		wanted["environment"] = s.environment
	}
	one := len(s.before.config) > 0 && !s.before.section("config").Flow() && len(s.entries) > 0
	switch {
	case one:
		s.spliceConfig(p)
	case len(s.entries) == 0 && s.before.section("config") != nil:
		wanted["config"] = nil
	case len(s.entries) > 0:
		config := &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag}
		for _, e := range s.entries {
			config.Content = append(config.Content, scalarNode(e.Key.String()), rewrite(e.node, e.Data()))
		}
		wanted["config"] = config
	}
	p.sections(s.before.sections, wanted)
	text = p.apply()
	return text, !p.odd && len(bytes.TrimSpace(text)) > 0 && s.readsSame(text)
}

// section returns the value of a section; nil without one.
func (w written) section(name string) *yamlnode.Node {
	for i := 0; i+1 < len(w.sections); i += 2 {
		if w.sections[i].Value == name {
			return w.sections[i+1]
		}
	}
	return nil
}

// sections changes the sections of a file.
func (p *splicer) sections(before []*yamlnode.Node, wanted map[string]*yamlnode.Node) {
	at := len(p.text) // of new ones, which stand before the configuration
	for i := 0; i+1 < len(before); i += 2 {
		key, value := before[i], before[i+1]
		if key.Value == "config" {
			at, _ = p.lines(key, value)
			at = p.above(key, at)
		}
		if v, changed := wanted[key.Value]; changed && v == nil {
			p.remove(key, value)
		} else if changed {
			p.replace(key, key.Value, value, v)
		}
		delete(wanted, key.Value)
	}
	for _, name := range settingsKeys[1:] {
		if v := wanted[name]; v != nil {
			p.insert(at, 0, name, v)
		}
	}
	if v := wanted["config"]; v != nil {
		p.insert(len(p.text), 0, "config", v)
	}
}

// spliceConfig changes the entries of the configuration.
func (s *Settings) spliceConfig(p *splicer) {
	kept := map[*yamlnode.Node]*Entry{}
	for _, e := range s.entries {
		if e.name != nil {
			kept[e.name] = e
		}
	}
	before, end := s.before.config, 0
	for i := 0; i+1 < len(before); i += 2 {
		key, value := before[i], before[i+1]
		_, end = p.lines(key, value)
		switch e := kept[key]; {
		case e == nil:
			p.remove(key, value)
		case e.changed:
			p.replace(key, e.Key.String(), value, rewrite(value, e.Data()))
		}
	}
	for _, e := range s.entries {
		if e.name == nil {
			p.insert(end, p.column(before[0].Start), e.Key.String(), rewrite(nil, e.Data()))
		}
	}
}

// column returns how far right in its line an offset is.
func (p *splicer) column(offset int) int {
	return offset - (bytes.LastIndexByte(p.text[:offset], '\n') + 1)
}

// lines returns the lines of an entry.
func (p *splicer) lines(key, value *yamlnode.Node) (start, end int) {
	start, end = key.Start-p.column(key.Start), max(key.End, value.End)
	p.odd = p.odd || len(bytes.TrimSpace(p.text[start:key.Start])) > 0 || value.Kind == yamlnode.Alias
	if end > 0 && p.text[end-1] == '\n' && end > key.End {
		return start, end
	}
	return start, end + bytes.IndexByte(p.text[end:], '\n') + 1
}

// above returns the start of the comment above an entry, whose first line begins at start.
func (p *splicer) above(key *yamlnode.Node, start int) int {
	head := key.Head()
	for n := strings.Count(head, "\n"); head != "" && n >= 0; n-- {
		line := bytes.LastIndexByte(p.text[:max(start-1, 0)], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimSpace(p.text[line:start]), []byte("#")) {
			break
		}
		start = line
	}
	return start
}

// remove removes an entry with the comment above it.
func (p *splicer) remove(key, value *yamlnode.Node) {
	start, end := p.lines(key, value)
	p.edits = append(p.edits, splice{start: p.above(key, start), end: end})
}

// replace writes an entry anew.
func (p *splicer) replace(key *yamlnode.Node, name string, old, v *yamlnode.Node) {
	start, end := p.lines(key, old)
	keyNode := scalarNode(name)
	if name == key.Value {
		keyNode.Style = key.Style
	}
	line := key.Notes()
	keyNode.SetNotes(yamlnode.Comments{Line: line.Line})
	p.edits = append(p.edits, splice{start, end, p.entry(p.column(key.Start), keyNode, v)})
}

// insert writes a new entry.
func (p *splicer) insert(at, column int, name string, v *yamlnode.Node) {
	p.edits = append(p.edits, splice{at, at, p.entry(column, scalarNode(name), v)})
}

// entry returns the lines of an entry, without the comments above and below it, which stay where they are.
func (p *splicer) entry(column int, key, v *yamlnode.Node) string {
	v.SetNotes(yamlnode.Comments{Line: v.Notes().Line})
	for last := v; len(last.Content) > 0; {
		last = last.Content[len(last.Content)-1]
		notes := last.Notes()
		notes.Foot = ""
		last.SetNotes(notes)
	}
	one := &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag, Content: []*yamlnode.Node{key, v}}
	text, err := yamlnode.Encode(one)
	p.odd = p.odd || err != nil
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if line != "\n" {
			b.WriteString(strings.Repeat(" ", column))
		}
		b.WriteString(line)
	}
	return b.String()
}

// apply returns the text with the edits, of which those at one place stay in their order.
func (p *splicer) apply() []byte {
	slices.SortStableFunc(p.edits, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var b bytes.Buffer
	done := 0
	for _, e := range p.edits {
		if e.start < done || p.odd {
			p.odd = true
			return nil
		}
		b.Write(p.text[done:e.start])
		b.WriteString(e.text)
		done = e.end
	}
	b.Write(p.text[done:])
	return b.Bytes()
}
