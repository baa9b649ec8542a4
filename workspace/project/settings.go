package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Settings is a stack's settings file (F3.7). It is read once, edited in place by Set and similar methods, and written
// by Save. It is not safe for concurrent use.
type Settings struct {
	Source *diag.Source
	Path   string // absolute path of the file, which need not exist
	Exists bool   // the file was there when it was loaded, or has been saved

	SecretsProvider string
	ProviderPlace   diag.Range // of its value; zero when absent
	SecretsPlace    diag.Range // of the first key about secrets; the start of the file without one
	EncryptedKey    string
	EncryptionSalt  string
	Environment     *diag.Range // place of the key `environment`; nil when absent (F3.11)

	project string
	root    *yamlnode.Node     // the mapping; nil for an empty file
	doc     *yamlnode.Document // nil for an empty file, and for one with syntax errors
	broken  bool               // the file has syntax errors, so that what was read is not all that it says
	before  written            // what the file has, by its nodes
	entries []*Entry
	byKey   map[Key]*Entry // the same ones

	door        confine.Door
	environment *yamlnode.Node // the value of the key `environment`; nil when absent
	inherited   inherited
	whole       bool // inherited has everything that the environments set
}

// Entry is one configuration value of a stack.
type Entry struct {
	Key   Key
	Place diag.Range // of the key; zero for an entry that was set since
	Range diag.Range // of the value

	secret  bool // the value is secret although it is not encrypted
	changed bool // it was set since
	data    any  // as decoded, ciphertexts as Secure
	text    string
	node    *yamlnode.Node // of the value
	name    *yamlnode.Node // of the key
}

// NewSettings returns the settings of a stack that has no file yet.
func NewSettings(path, project string) *Settings {
	return &Settings{Source: diag.NewSource(path, nil), Path: path, project: project}
}

// LoadSettings reads a stack's settings file through a door; a missing file is empty. name is its name in diagnostics.
func LoadSettings(door confine.Door, path, name, project string) (*Settings, diag.Diagnostics, error) {
	text, err := door.ReadFile(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		s := NewSettings(path, project)
		s.door = door
		return s, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read stack settings: %w", err)
	}
	s, diags := ParseSettings(diag.NewSource(name, StripBOM(text)), project)
	s.Path, s.Exists, s.door = path, true, door
	return s, diags, nil
}

// StackKeys returns the keys that some stack of a project sets, each once and in no order, in the readable settings
// files. inherit adds the values of a stack's environments; it may be nil. open reports whether some stack has an
// environment that could not be opened, and so may set further keys.
func StackKeys(p *Project, inherit func(*Project, *Settings)) (known []Key, open bool) {
	dir, pattern := filepath.Split(p.StackFile("*"))
	files, _ := p.Door.ReadDir(filepath.Clean(dir))
	keys := map[Key]bool{}
	for _, file := range files {
		if ok, _ := filepath.Match(pattern, file.Name()); !ok {
			continue
		}
		path := filepath.Join(dir, file.Name())
		settings, _, err := LoadSettings(p.Door, path, path, p.Name.Text)
		if err != nil {
			continue // reported where that stack is used
		}
		if inherit != nil && settings.Environment != nil {
			inherit(p, settings)
		}
		open = open || settings.Open()
		for key := range settings.InheritedKeys() {
			keys[key] = true
		}
		for _, e := range settings.Entries() {
			keys[e.Key] = true
		}
	}
	return slices.Collect(maps.Keys(keys)), open
}

// Reload reads the file again, without changing s.
func (s *Settings) Reload() (*Settings, diag.Diagnostics, error) {
	return LoadSettings(s.door, s.Path, s.Source.Name(), s.project)
}

// ParseSettings reads the text of a stack's settings file. It always returns settings, with everything that could be
// read.
func ParseSettings(src *diag.Source, project string) (*Settings, diag.Diagnostics) {
	s := &Settings{Source: src, project: project, Exists: true}
	d := &document{src: src}
	s.doc, s.root = d.parseCommented()
	s.broken = d.broken
	if isNull(s.root) {
		s.root, s.doc = nil, nil
		return s, d.diags
	}
	if s.root.Kind != yamlnode.Map {
		d.wrongKind("a stack settings file", "a map", s.root)
		s.root = nil
		return s, d.diags
	}
	entries := d.entries("a stack settings file", s.root)
	r := d.record("", entries)
	s.SecretsProvider, s.EncryptedKey = r.text("secretsprovider"), r.text("encryptedkey")
	s.EncryptionSalt = r.text("encryptionsalt")
	s.SecretsPlace = diag.NewRange(src, 0, 0)
	for _, key := range []string{"encryptionsalt", "encryptedkey", "secretsprovider"} {
		if r.node(key) != nil {
			s.SecretsPlace = r.key(key)
		}
	}
	if provider := r.node("secretsprovider"); provider != nil {
		s.ProviderPlace = d.at(provider)
	}
	if !r.isNull("environment") {
		place := r.key("environment")
		s.Environment, s.environment = &place, r.node("environment")
	}
	s.readConfig(d, r.node("config"))
	s.before = writtenIn(s.root)
	for _, e := range entries {
		if !slices.Contains(settingsKeys, e.key.Text) && !e.anchored() {
			d.hide(e.value)
			d.report(unknownSetting(e.key))
		}
	}
	return s, d.diags
}

// settingsKeys are the keys of a stack's settings file.
var settingsKeys = []string{"config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt"}

// unknownSetting returns the warning about a key that does not belong to a stack's settings file.
func unknownSetting(key Literal) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownKey, Subject: key.Range,
		Summary: "unknown key " + key.Text + " in a stack settings file", Detail: "it is ignored: configuration stands below `config`"}
	near := nearest(key.Text, settingsKeys)
	switch {
	case near != "":
		d.Summary, d.Detail = d.Summary+"; did you mean "+near+"?", ""
	case slices.Contains([]string{"imports", "values", "pulumiConfig", "environmentVariables", "files"}, key.Text):
		d.Detail = "it is ignored: what belongs to an environment stands below `environment`"
	case slices.Contains([]string{"variables", "resources", "outputs", "components", "name", "runtime"}, key.Text):
		d.Detail = "it is ignored: a program is no part of this file"
	}
	return d
}

func (s *Settings) readConfig(d *document, config *yamlnode.Node) {
	seen := map[Key]diag.Range{}
	for _, e := range d.entries("config", config) {
		key, err := ParseKey(e.key.Text, s.project)
		if err != nil {
			d.add(diag.WrongKind, e.key.Range, err.Error(), "")
			continue
		}
		if first, twice := seen[key]; twice {
			d.report(diag.Diagnostic{Code: diag.Duplicate, Subject: e.key.Range,
				Summary: fmt.Sprintf("%s is set twice (first at line %d)", key, first.StartPosition().Line),
				Related: []diag.Related{{Range: first, Message: "first set here"}}})
			continue
		}
		seen[key] = e.key.Range
		dec := decoder{secure: true}
		v, err := dec.decode(e.value, 0)
		item := &Entry{Key: key, Place: e.key.Range, Range: d.at(e.value), data: v, node: e.value, name: e.name}
		if err == nil {
			item.text, err = stackText(v)
		}
		if err != nil {
			d.add(diag.WrongKind, item.Range, fmt.Sprintf("the value of %s cannot be read: %s", e.key.Text, err), "")
			continue
		}
		if loss, found := rounded(v, item.Range); found {
			d.report(loss)
		}
		if v == nil {
			d.report(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: e.key.Range,
				Summary: fmt.Sprintf("the value of %s is null and reaches the program as an empty string", e.key.Text)})
		}
		s.add(item)
	}
}

// add appends the value of a key that has none.
func (s *Settings) add(e *Entry) {
	s.entries = append(s.entries, e)
	if s.byKey == nil {
		s.byKey = make(map[Key]*Entry)
	}
	s.byKey[e.Key] = e
}

// stackText returns a value of a stack file in the form for programs, with ciphertexts unchanged.
func stackText(v any) (string, error) {
	switch x := v.(type) {
	case Secure:
		return string(x), nil
	case []any, map[string]any:
		return jsontext.Compact(x)
	}
	return scalarText(v)
}

// Project returns the name of the project that the settings belong to; it may be empty.
func (s *Settings) Project() string { return s.project }

// Empty reports whether the file says nothing that a program can read.
func (s *Settings) Empty() bool { return len(s.entries) == 0 && s.environment == nil }

// Entries returns the configuration values in file order. The caller must not modify them.
func (s *Settings) Entries() []*Entry { return s.entries }

// Entry returns the value of a key; nil when the stack has none.
func (s *Settings) Entry(key Key) *Entry { return s.byKey[key] }

// IsSecret reports whether the value, or any part of it, is encrypted (L2.4).
func (e *Entry) IsSecret() bool { return e.secret || HasSecure(e.data) }

// TreatAsSecret makes a plain value secret, for settings that are never written, such as those of a test case.
func (e *Entry) TreatAsSecret() { e.secret = true }

// IsObject reports whether the value is a list or a map.
func (e *Entry) IsObject() bool { return isStructured(e.data) }

// Data returns the value: text, or for lists and maps plain data with ciphertexts as Secure.
func (e *Entry) Data() any {
	switch e.data.(type) {
	case Secure, []any, map[string]any:
		return e.data
	}
	return e.text
}

// Opener opens ciphertexts.
type Opener interface {
	Decrypt(ciphertext string) (string, error)
}

// Open returns the value in the form for programs, with secrets as plain text (F3.12). open is not called for a value
// without secrets.
func (e *Entry) Open(open Opener) (text string, data any, err error) {
	if !e.IsSecret() {
		return e.text, e.Data(), nil
	}
	data, err = MapSecure(e.data, func(c Secure) (any, error) { return open.Decrypt(string(c)) })
	if err != nil {
		return "", nil, fmt.Errorf("decrypt %s: %w", e.Key, err)
	}
	text, err = stackText(data)
	return text, data, err
}

// PartOf returns the part of data, as of an Entry, at a path, and whether there is one.
func PartOf(v any, steps value.Path) (any, bool) {
	for _, step := range steps {
		switch x := v.(type) {
		case map[string]any:
			if step.IsIndex {
				return nil, false
			}
			item, found := x[step.Key]
			if !found {
				return nil, false
			}
			v = item
		case []any:
			if !step.IsIndex || step.Index < 0 || step.Index >= len(x) {
				return nil, false
			}
			v = x[step.Index]
		default:
			return nil, false
		}
	}
	return v, true
}

// TextOf formats a part of a value: scalars as text, lists and maps as JSON.
func TextOf(v any) string {
	text, err := stackText(v)
	if err != nil {
		return ""
	}
	return text
}

// EnvironmentText returns the document of the key `environment`; nil if there is none.
func (s *Settings) EnvironmentText() ([]byte, error) {
	switch {
	case s.environment == nil:
		return nil, nil
	case s.environment.Kind == yamlnode.List:
		return yamlnode.Encode(&yamlnode.Node{Kind: yamlnode.Map, Content: []*yamlnode.Node{yamlnode.Of("imports"), s.environment}})
	}
	return yamlnode.Encode(s.environment)
}
