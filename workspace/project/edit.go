package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Set sets a key's value: a string, or Secure.
func (s *Settings) Set(key Key, v any) {
	e := s.Entry(key)
	if e == nil {
		e = &Entry{Key: key}
		s.add(e)
	}
	e.data, e.changed = v, true
	e.text = TextOf(v)
}

// Remove removes a key, and reports whether it was there.
func (s *Settings) Remove(key Key) bool {
	if s.byKey[key] == nil {
		return false
	}
	s.entries = slices.DeleteFunc(s.entries, func(e *Entry) bool { return e.Key == key })
	delete(s.byKey, key)
	return true
}

// Coerce returns the value of a text for --path: true and false become booleans, decimal integers without leading zeros
// numbers, any other text stays a text (F3.13).
func Coerce(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if !plainInteger().MatchString(text) {
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	return text
}

var plainInteger = lazyregexp.New(`^(0|[+-]?[1-9][0-9]*)$`)

// SetPath sets a part of a value, and creates missing lists and maps on the way (F3.13). v is a string, bool, int64,
// uint64, float64, json.Number or Secure.
func (s *Settings) SetPath(path KeyPath, v any) error {
	if len(path.Steps) == 0 {
		s.Set(path.Key, v)
		return nil
	}
	var old any
	if e := s.Entry(path.Key); e != nil && e.IsObject() {
		old = e.data // a scalar at the top level is replaced
	}
	changed, err := put(old, path.Key.Name, path.Steps, 0, v)
	if err != nil {
		return err
	}
	s.Set(path.Key, changed)
	return nil
}

// maxNewItems bounds the list that SetPath makes for an index.
const maxNewItems = 10_000

// put returns old with the part at steps[depth:] set. It does not modify old.
func put(old any, name string, steps value.Path, depth int, v any) (any, error) {
	if depth == len(steps) {
		return v, nil
	}
	step, here := steps[depth], pathText(name, steps[:depth+1])
	if step.IsIndex {
		list, ok := old.([]any)
		if !ok && old != nil {
			return nil, fmt.Errorf("%s: expected a list", here)
		}
		// Any item of a new list may be set first; then those before it are null.
		if step.Index < 0 || step.Index > len(list) && (old != nil || step.Index >= maxNewItems) {
			return nil, fmt.Errorf("%s: the index is out of range, the length of the list is %d", here, len(list))
		}
		list = slices.Clone(list)
		for len(list) <= step.Index {
			list = append(list, nil)
		}
		var err error
		list[step.Index], err = put(list[step.Index], name, steps, depth+1, v)
		return list, err
	}
	m, ok := old.(map[string]any)
	if !ok && old != nil {
		return nil, fmt.Errorf("%s: expected a map", pathText(name, steps[:depth]))
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	part, err := put(m[step.Key], name, steps, depth+1, v)
	if err != nil {
		return nil, err
	}
	m[step.Key] = part
	if _, isText := m["secure"].(string); isText && len(m) == 1 {
		return nil, errors.New(`a map whose only key is "secure" stands for a secret: use --secret, or another key`)
	}
	return m, nil
}

// RemovePath removes a part of a value, and reports whether it was there.
func (s *Settings) RemovePath(path KeyPath) (bool, error) {
	if len(path.Steps) == 0 {
		return s.Remove(path.Key), nil
	}
	e := s.Entry(path.Key)
	if e == nil || !e.IsObject() {
		return false, nil
	}
	changed, found := cut(e.data, path.Steps)
	if m, ok := changed.(map[string]any); ok && len(m) == 1 {
		if _, isText := m["secure"].(string); isText {
			return false, errors.New(`a map whose only key is "secure" stands for a secret: the change would leave such a map`)
		}
	}
	if found {
		s.Set(path.Key, changed)
	}
	return found, nil
}

// cut returns old without the part at steps. It does not modify old.
func cut(old any, steps value.Path) (any, bool) {
	step, last := steps[0], len(steps) == 1
	switch x := old.(type) {
	case map[string]any:
		part, found := x[step.Key]
		if !found || step.IsIndex {
			return old, false
		}
		x = maps.Clone(x)
		if last {
			delete(x, step.Key)
			return x, true
		}
		x[step.Key], found = cut(part, steps[1:])
		return x, found
	case []any:
		if !step.IsIndex || step.Index < 0 || step.Index >= len(x) {
			return old, false
		}
		x = slices.Clone(x)
		if last {
			return slices.Delete(x, step.Index, step.Index+1), true
		}
		var found bool
		x[step.Index], found = cut(x[step.Index], steps[1:])
		return x, found
	}
	return old, false
}

// Text returns the text that Save writes. Everything that was not changed stays as it is, byte for byte. A value that
// was set is written as Pulumi does: with the namespace of its key, a scalar as a string (F3.10). Only a file that has
// anchors, or braces around its sections, is written as a whole, with its comments and the order of its keys.
func (s *Settings) Text() ([]byte, error) {
	if s.broken {
		return nil, errors.New("write stack settings: the file has syntax errors, and writing it would lose a part; " +
			"correct it first")
	}
	if filepath.Ext(s.Path) == ".json" {
		return s.jsonFile()
	}
	if text, ok := s.spliced(); ok {
		return diag.KeepBreaks(s.Source.Text(), text), nil
	}
	s.setText("secretsprovider", s.SecretsProvider)
	s.setText("encryptedkey", s.EncryptedKey)
	s.setText("encryptionsalt", s.EncryptionSalt)
	s.rewriteConfig()
	if len(s.root.Content) == 0 {
		return nil, nil
	}
	s.root.Style &^= yamlnode.FlowStyle
	text, err := s.doc.Encode()
	if err == nil && s.readsSame(text) {
		return diag.KeepBreaks(s.Source.Text(), text), nil
	}
	// The YAML library misplaces some comments, which changes the meaning of the text; then comments are dropped.
	s.doc.Comments = yamlnode.Comments{}
	dropComments(s.doc.Root, map[*yamlnode.Node]bool{})
	if text, err = s.doc.Encode(); err != nil {
		return nil, fmt.Errorf("write stack settings: %w", err)
	}
	if !s.readsSame(text) {
		return nil, errors.New("write stack settings: the file has parts that cannot be written back; edit it by hand")
	}
	return diag.KeepBreaks(s.Source.Text(), text), nil
}

// readsSame reports whether text has the same settings as s.
func (s *Settings) readsSame(text []byte) bool {
	other, diags := ParseSettings(diag.NewSource("", text), s.project)
	return !diags.HasErrors() && slices.EqualFunc(s.entries, other.entries, func(a, b *Entry) bool {
		return a.Key == b.Key && a.text == b.text && a.IsSecret() == b.IsSecret()
	}) && s.EncryptionSalt == other.EncryptionSalt && s.SecretsProvider == other.SecretsProvider &&
		s.EncryptedKey == other.EncryptedKey && slices.Equal(s.Imports(), other.Imports())
}

// dropComments removes the comments from the YAML tree of a settings file. seen are the visited nodes.
func dropComments(n *yamlnode.Node, seen map[*yamlnode.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	n.SetNotes(yamlnode.Comments{})
	for _, child := range n.Content {
		dropComments(child, seen)
	}
}

// setText sets a top-level text; an empty text removes it.
func (s *Settings) setText(name, text string) {
	old := valueOf(s.root, name)
	switch {
	case text == "":
		s.setEntry(name, nil)
	case old == nil || old.Value != text:
		s.setEntry(name, keepComments(scalarNode(text), old))
	}
}

// setEntry sets a top-level entry; nil removes it. A new entry goes before the configuration, as usual.
func (s *Settings) setEntry(name string, v *yamlnode.Node) {
	if s.root == nil {
		s.root = &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag}
		s.doc = &yamlnode.Document{Root: s.root}
	}
	switch i := s.root.Index(name); {
	case i >= 0 && v == nil:
		s.root.Content = slices.Delete(s.root.Content, i, i+2)
	case i >= 0:
		s.root.Content[i+1] = v
	case v != nil:
		if i = s.root.Index("config"); i < 0 {
			i = len(s.root.Content)
		}
		s.root.Content = slices.Insert(s.root.Content, i, scalarNode(name), v)
	}
}

func (s *Settings) rewriteConfig() {
	if len(s.entries) == 0 {
		s.setEntry("config", nil)
		return
	}
	config := &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag}
	if i := s.root.Index("config"); i >= 0 && s.root.Content[i+1].Kind == yamlnode.Map {
		config = s.root.Content[i+1]
	}
	s.setEntry("config", config)
	config.Style &^= yamlnode.FlowStyle
	config.Content = config.Content[:0:0]
	for _, e := range s.entries {
		name := scalarNode(e.Key.String())
		if e.name != nil {
			name = keepComments(name, e.name)
		}
		config.Content = append(config.Content, name, rewrite(e.node, e.Data()))
	}
}

// rewrite returns the tree of v, with unchanged parts taken from old.
func rewrite(old *yamlnode.Node, v any) *yamlnode.Node {
	prior := old
	old = old.Target()
	switch x := v.(type) {
	case Secure:
		if old != nil && old.Kind == yamlnode.Map {
			if same, err := (&decoder{secure: true}).decode(old, 0); err == nil && same == any(x) {
				old.Style &^= yamlnode.FlowStyle
				return old
			}
		}
		n := &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag, Content: []*yamlnode.Node{scalarNode("secure"),
			scalarNode(string(x))}}
		return keepComments(n, prior)
	case map[string]any:
		return keepComments(rewriteMap(old, x), prior)
	case []any:
		n := &yamlnode.Node{Kind: yamlnode.List, Tag: yamlnode.ListTag}
		for i, item := range x {
			var pred *yamlnode.Node
			if old != nil && old.Kind == yamlnode.List && i < len(old.Content) {
				pred = old.Content[i]
			}
			n.Content = append(n.Content, rewriteItem(pred, item))
		}
		return keepComments(n, prior)
	}
	return keepComments(scalarNode(v), prior)
}

// rewriteItem is rewrite for the inside of an object, where scalars keep their kinds and spellings.
func rewriteItem(old *yamlnode.Node, v any) *yamlnode.Node {
	switch v.(type) {
	case Secure, map[string]any, []any:
		return rewrite(old, v)
	}
	if old != nil && old.Kind == yamlnode.Scalar {
		if same, err := decodeScalar(old); err == nil && same == v {
			return old
		}
	}
	return keepComments(scalarNode(v), old)
}

// rewriteMap keeps the order of old keys; new ones follow in ascending order.
func rewriteMap(old *yamlnode.Node, m map[string]any) *yamlnode.Node {
	n := &yamlnode.Node{Kind: yamlnode.Map, Tag: yamlnode.MapTag}
	done := map[string]bool{}
	if old != nil && old.Kind == yamlnode.Map {
		for i := 0; i+1 < len(old.Content); i += 2 {
			key, err := keyText(old.Content[i])
			item, found := m[key]
			if err != nil || !found {
				continue
			}
			done[key] = true
			n.Content = append(n.Content, keepComments(scalarNode(key), old.Content[i]),
				rewriteItem(old.Content[i+1], item))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !done[key] {
			n.Content = append(n.Content, scalarNode(key), rewriteItem(nil, m[key]))
		}
	}
	return n
}

// scalarNode returns the YAML node of a scalar; a text is quoted if necessary.
func scalarNode(v any) *yamlnode.Node {
	switch x := v.(type) {
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			v = int64(x)
		}
	case json.Number:
		return &yamlnode.Node{Kind: yamlnode.Scalar, Tag: yamlnode.FloatTag, Value: x.String()}
	}
	return yamlnode.Of(v)
}

// keepComments returns n with the comments of old.
func keepComments(n, old *yamlnode.Node) *yamlnode.Node {
	if old != nil {
		n.SetNotes(old.Notes())
	}
	return n
}

// Save writes the file atomically. It does not create an empty file.
func (s *Settings) Save() error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	if len(text) == 0 && !s.Exists {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return fmt.Errorf("write stack settings: %w", err)
	}
	mode := os.FileMode(0o644) // F3.7; an existing file keeps its mode
	if info, err := confine.Anywhere().Stat(s.Path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := osfile.WriteFile(s.Path, text, mode); err != nil {
		return fmt.Errorf("write stack settings %s: %w", s.Path, err)
	}
	s.Exists = true
	return nil
}

// jsonEntries marshals configuration values as a JSON object, in their order.
type jsonEntries []*Entry

// MarshalJSON writes the object.
func (list jsonEntries) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, e := range list {
		v, err := jsontext.Compact(e.Data())
		if !e.changed && json.Valid([]byte(e.Range.Text())) {
			v = e.Range.Text() // which keeps the digits of its numbers
		}
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", e.Key, err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = jsontext.AppendString(text, e.Key.String(), false)
		text = append(append(text, ':'), v...)
	}
	return append(text, '}'), nil
}

// jsonFile returns the settings of a stack whose project file is JSON (F3.7): keys in file order, indented by four
// spaces.
func (s *Settings) jsonFile() ([]byte, error) {
	file := struct {
		SecretsProvider string      `json:"secretsprovider,omitempty"`
		EncryptedKey    string      `json:"encryptedkey,omitempty"`
		EncryptionSalt  string      `json:"encryptionsalt,omitempty"`
		Environment     any         `json:"environment,omitempty"`
		Config          jsonEntries `json:"config,omitempty"`
	}{s.SecretsProvider, s.EncryptedKey, s.EncryptionSalt, nil, s.entries}
	if s.environment != nil {
		var err error
		if file.Environment, err = (&decoder{}).decode(s.environment, 0); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	if err := jsontext.Write(&text, file, "    "); err != nil {
		return nil, fmt.Errorf("write stack settings: %w", err)
	}
	return diag.KeepBreaks(s.Source.Text(), text.Bytes()), nil
}

// Imports returns the names of the environments that the stack imports, in order (F3.11).
func (s *Settings) Imports() (names []string) {
	for _, item := range s.imports().Content {
		names = append(names, importName(item))
	}
	return names
}

// imports returns the list of the stack's environments; an empty one if there is none.
func (s *Settings) imports() *yamlnode.Node {
	list := s.environment
	if list != nil && list.Kind == yamlnode.Map {
		list = valueOf(list, "imports")
	}
	if list == nil || list.Kind != yamlnode.List {
		return &yamlnode.Node{}
	}
	return list
}

// importName returns the name in an entry: the entry itself, or the one key of a map with options.
func importName(item *yamlnode.Node) string {
	item = item.Target()
	if item.Kind == yamlnode.Map && len(item.Content) > 0 {
		return item.Content[0].Value
	}
	return item.Value
}

// AddImport appends an environment, and reports whether it was missing.
func (s *Settings) AddImport(name string) bool {
	if slices.Contains(s.Imports(), name) {
		return false
	}
	list := s.imports()
	if list.Kind == 0 {
		list = &yamlnode.Node{Kind: yamlnode.List, Tag: yamlnode.ListTag}
		if s.environment != nil && s.environment.Kind == yamlnode.Map {
			s.environment.Content = append([]*yamlnode.Node{scalarNode("imports"), list}, s.environment.Content...)
		} else {
			s.setEnvironment(list)
		}
	}
	list.Content = append(list.Content, scalarNode(name))
	s.before.environment = true
	return true
}

// RemoveImport removes an environment, and reports whether it existed. It also removes an empty list.
func (s *Settings) RemoveImport(name string) bool {
	list := s.imports()
	i := slices.Index(s.Imports(), name)
	if i < 0 {
		return false
	}
	list.Content = slices.Delete(list.Content, i, i+1)
	s.before.environment = true
	if len(list.Content) == 0 && list == s.environment {
		s.setEnvironment(nil)
	}
	return true
}

// setEnvironment sets the key `environment`, before the configuration; nil removes it.
func (s *Settings) setEnvironment(v *yamlnode.Node) {
	s.environment = v
	s.setEntry("environment", v)
}
