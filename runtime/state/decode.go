package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/memory"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Opener returns the manager that can open the secrets of a state. It is called at most once per state, and only if the
// state names a secrets provider. The manager need not obtain its key before Decrypt is called.
type Opener func(p SecretsProvider) (secrets.Manager, error)

// VersionError is returned for a state with an unknown version or feature (F5.2, F0.2).
type VersionError struct {
	Version int
	Feature string // empty if the version is unknown
}

// Error names the version or the feature that is not supported.
func (e *VersionError) Error() string {
	if e.Feature != "" {
		return fmt.Sprintf("the state uses the feature %q, which is not supported by this build; a newer one may know it",
			e.Feature)
	}
	return fmt.Sprintf("the state is of version %d, and this build knows versions 0 to %d; a newer one may know it",
		e.Version, latestFeatureVersion)
}

var knownFeatures = [...]string{"refreshBeforeUpdate", "views", "hooks", "taint", "replaceWith",
	"extensionParameterization", "snippets-prototype", "byteString"}

// Decode reads a deployment (F5.3). With a nil open, secrets stay sealed (F4.16); see SealedText. It returns a
// *SyntaxError for malformed text.
func Decode(data []byte, open Opener) (*Snapshot, error) {
	d := newDecoder(string(data), open)
	s := d.deployment()
	d.End()
	if d.Err != nil {
		return nil, d.Err
	}
	return s, nil
}

// DecodeCheckpoint reads a state file of any version (F5.1, F5.2), like Decode. It returns a *VersionError for unknown
// versions or features. The result shares data: the caller must not change data afterwards.
func DecodeCheckpoint(data []byte, open Opener) (*Checkpoint, error) {
	return newDecoder(borrowed(data), open).document("checkpoint")
}

// Readable returns the error that DecodeCheckpoint would return without an Opener. It keeps no values, so it needs
// little memory and the time of one scan.
func Readable(data []byte) error {
	d := decoder{Scanner: newScanner(borrowed(data)), blind: true, skim: true}
	_, err := d.document("checkpoint")
	return err
}

// ReadableResource returns the error that DecodeResource would return without a manager.
func ReadableResource(data []byte) error { return skimmed(data, func(d *decoder) { d.resource() }) }

// ReadableOperation returns the error that DecodeOperation would return without a manager.
func ReadableOperation(data []byte) error { return skimmed(data, func(d *decoder) { d.operation() }) }

// skimmers is a pool of decoders for skimmed, which is called for each record of a journal. It saves growing the stacks
// anew.
var skimmers = sync.Pool{New: func() any { return &decoder{blind: true, skim: true} }}

func skimmed(data []byte, read func(d *decoder)) error {
	d := skimmers.Get().(*decoder)
	d.Scanner = newScanner(borrowed(data))
	read(d)
	d.End()
	err := d.Err
	// Keep the stacks, but drop their references to data.
	clear(d.keys[:cap(d.keys)])
	clear(d.path[:cap(d.path)])
	clear(d.values[:cap(d.values)])
	*d = decoder{blind: true, skim: true, keys: d.keys[:0], path: d.path[:0], values: d.values[:0]}
	skimmers.Put(d)
	return err
}

// borrowed returns data as a string without copying. data must not change while any part of the string is in use.
func borrowed(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// DecodeExport reads the format of stack export and stack import (F5.17), like Decode.
func DecodeExport(data []byte, open Opener) (*Snapshot, error) {
	c, err := newDecoder(string(data), open).document("deployment")
	if err != nil {
		return nil, err
	}
	if c.Snapshot == nil {
		return nil, errors.New("the text has no deployment: a state to import begins as stack export prints it, " +
			`{"version": 3, "deployment": {…}}`)
	}
	return c.Snapshot, nil
}

// DecodeResource reads the JSON of one resource (F5.8). m opens its secrets; a nil m leaves them sealed.
func DecodeResource(data []byte, m secrets.Manager) (*Resource, error) {
	return decodeOne(data, m, (*decoder).resource)
}

// DecodeOperation reads the JSON of a pending operation (F5.15). m opens its secrets; a nil m leaves them sealed.
func DecodeOperation(data []byte, m secrets.Manager) (Operation, error) {
	return decodeOne(data, m, (*decoder).operation)
}

// decodeOne reads the whole of data with read.
func decodeOne[T any](data []byte, m secrets.Manager, read func(*decoder) T) (T, error) {
	d := decoder{Scanner: newScanner(string(data)), manager: m, blind: m == nil}
	v := read(&d)
	d.End()
	return v, d.Err
}

// newDecoder returns a decoder of a whole state, whose values are kept.
func newDecoder(text string, open Opener) *decoder {
	memory.Expect(10 * len(text)) // what a run makes of it
	return &decoder{Scanner: newScanner(text), blind: open == nil, open: open}
}

// document reads a versioned file. member is "checkpoint" for a state file and "deployment" for an export.
func (d *decoder) document(member string) (*Checkpoint, error) {
	c := &Checkpoint{Version: -1}
	var features []string
	found, late := false, -1 // late is the position of the member if it is read last, after version and features
	body := func() {
		if d.supported(c.Version, features); member == "deployment" {
			c.Snapshot = d.deployment()
		} else {
			d.checkpoint(c)
		}
	}
	d.Next()
	start := d.Pos
	if d.Next() != '{' {
		d.Unexpected("an object")
	}
	d.Scanner.Object(func(key string) {
		switch key {
		case "version":
			if c.Version = d.version(); d.Err != nil {
				return
			}
		case "features":
			features = jsontext.Texts[string](d.Scanner)
		case member:
			found = true
			if c.Version >= 0 && c.Version < latestFeatureVersion {
				body()
				return
			}
			d.Next()
			late = d.Pos
			d.Skip()
		default:
			c.Unknown = keep(c.Unknown, key, d.Raw())
		}
	})
	d.End()
	if d.Err != nil {
		return nil, d.Err
	}
	switch {
	case late >= 0:
		d.Pos = late
		body()
	case !found && member == "checkpoint" && c.Version <= 0: // version 0 is the checkpoint itself (F5.2)
		c.Unknown, c.Version = nil, 0
		d.Pos = start
		d.checkpoint(c)
	case !found:
		d.supported(c.Version, features)
	}
	if member == "checkpoint" && c.Stack == "" && c.Snapshot == nil && d.Err == nil { // any other JSON object
		d.Pos = start
		d.Unexpected("the state of a stack")
	}
	if d.Err != nil {
		return nil, d.Err
	}
	c.Version = max(c.Version, 0)
	if c.Snapshot != nil && d.blind && c.Version >= latestFeatureVersion && slices.Contains(features, "byteString") {
		c.Snapshot.ByteStrings = true // a sealed secret may contain one
	}
	return c, nil
}

// version reads a whole number from 0. Other numbers give a *VersionError.
func (d *decoder) version() int {
	n := d.Number()
	if n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		d.Stop(&VersionError{Version: int(max(min(n, math.MaxInt32), -1))})
	}
	return int(n)
}

func (d *decoder) supported(version int, features []string) {
	if version > latestFeatureVersion {
		d.Stop(&VersionError{Version: version})
	}
	if version < latestFeatureVersion {
		return // older versions have no features (F0.1)
	}
	for _, f := range features {
		if !slices.Contains(knownFeatures[:], f) {
			d.Stop(&VersionError{Version: version, Feature: f})
		}
	}
}

func (d *decoder) checkpoint(c *Checkpoint) {
	d.Scanner.Object(func(key string) {
		switch key {
		case "stack":
			c.Stack = d.Optional()
		case "config":
			c.Config = d.Raw()
		case "latest":
			if !d.Null() {
				c.Snapshot = d.deployment()
			}
		default:
			c.UnknownInCheck = keep(c.UnknownInCheck, key, d.Raw())
			if key == "version" {
				delete(c.UnknownInCheck, key) // in version 0 the file itself is the checkpoint
			}
		}
	})
}

// keep adds the raw JSON of an unknown member to m, so that it is written again, and returns m. A nil raw is ignored.
func keep(m map[string]json.RawMessage, key string, raw json.RawMessage) map[string]json.RawMessage {
	if raw == nil {
		return m
	}
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	m[key] = raw
	return m
}

// deployment reads a deployment (F5.3). Resources and operations that precede secrets_providers are read at the end.
func (d *decoder) deployment() *Snapshot {
	s := &Snapshot{}
	later := map[string]int{}
	decided := d.blind
	lists := map[string]func(){
		"resources": func() {
			d.Scanner.List(func() {
				if r := d.resource(); !d.skim {
					s.Resources = append(s.Resources, r)
				}
			})
		},
		"pending_operations": func() {
			d.Scanner.List(func() {
				if op := d.operation(); !d.skim {
					s.Pending = append(s.Pending, op)
				}
			})
		},
	}
	d.Scanner.Object(func(key string) {
		switch key {
		case "manifest":
			s.Manifest = d.manifest()
		case "secrets_providers":
			s.SecretsProvider = d.provider()
			d.opened(s.SecretsProvider)
			decided = true
		case "resources", "pending_operations":
			if decided {
				lists[key]()
				return
			}
			d.Next()
			later[key] = d.Pos
			d.Skip()
		case "metadata":
			if s.Metadata = d.Raw(); string(s.Metadata) == "{}" || string(s.Metadata) == "null" {
				s.Metadata = nil
			}
		case "snippets":
			s.Snippets = d.Raw()
		case "extensions":
			s.Extensions = d.Raw()
		default:
			s.Unknown = keep(s.Unknown, key, d.Raw())
		}
	})
	end := d.Pos
	for _, key := range []string{"resources", "pending_operations"} {
		if i, ok := later[key]; ok && d.Err == nil {
			d.Pos = i
			lists[key]()
		}
	}
	if d.Err == nil {
		d.Pos = end
	}
	s.ByteStrings = d.bytes
	return s
}

func (d *decoder) opened(p *SecretsProvider) {
	if d.Err != nil || d.blind || p == nil {
		return
	}
	m, err := d.open(*p)
	if err != nil {
		d.Stop(err)
		return
	}
	d.manager = m
	if batch, ok := m.(secrets.Batch); ok {
		batch.Expect(ciphertexts(d.Source))
	}
}

// ciphertexts returns the strings of all members named ciphertext. Some may be ordinary data.
func ciphertexts(text string) (list []string) {
	const key = `"ciphertext":`
	for {
		i := strings.Index(text, key)
		if i < 0 {
			return list
		}
		text = strings.TrimLeft(text[i+len(key):], " \t\r\n")
		rest, quoted := strings.CutPrefix(text, `"`)
		if end := strings.IndexAny(rest, `"\`); quoted && end > 0 && rest[end] == '"' {
			list = append(list, rest[:end])
		}
	}
}

func (d *decoder) manifest() (m Manifest) {
	d.Scanner.Object(func(key string) {
		switch key {
		case "time":
			m.Time = d.moment()
		case "magic":
			m.Magic = d.Optional()
		case "version":
			m.Version = d.Optional()
		default:
			m.Unknown = keep(m.Unknown, key, d.Raw())
		}
	})
	return m
}

func (d *decoder) provider() *SecretsProvider {
	if d.Null() {
		return nil
	}
	p := &SecretsProvider{}
	d.Scanner.Object(func(key string) {
		switch key {
		case "type":
			p.Type = d.Optional()
		case "state":
			p.State = d.Raw()
		default:
			p.Unknown = keep(p.Unknown, key, d.Raw())
		}
	})
	return p
}

func (d *decoder) operation() (op Operation) {
	d.Next()
	start := d.Pos
	d.Scanner.Object(func(key string) {
		switch key {
		case "resource":
			op.Resource = d.resource()
		case "type":
			op.Kind = OperationKind(d.Optional())
		default:
			op.Unknown = keep(op.Unknown, key, d.Raw())
		}
	})
	if op.Resource == nil {
		d.FailAt(start, "a pending operation has no resource")
		op.Resource = &Resource{}
	}
	return op
}

func (d *decoder) moment() time.Time {
	d.Next()
	start := d.Pos
	text := d.Optional()
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		d.FailAt(start, "%q is not a time: expected one like 2006-01-02T15:04:05Z", text)
	}
	return t
}

func (d *decoder) momentPointer() *time.Time {
	if d.Null() {
		return nil
	}
	t := d.moment()
	return &t
}

// resource reads a resource (F5.8), whose members may be in any order.
func (d *decoder) resource() *Resource {
	r := &d.skimmed
	if !d.skim {
		r = new(Resource)
	}
	*r = Resource{Inputs: noProperties, Outputs: noProperties}
	if d.Next() != '{' {
		d.Unexpected("a resource")
	}
	d.scope, d.inputs, d.cursor = "", d.inputs[:0], 0
	d.Scanner.Object(func(key string) { d.field(r, key) })
	return r
}

// noProperties is the empty map, for resources without inputs or outputs.
var noProperties = value.EmptyMap()

// texts reads a list of strings; it returns nil while skimming.
func texts[T ~string](d *decoder) []T {
	if d.skim {
		d.List(func() { d.Optional() })
		return nil
	}
	return jsontext.Texts[T](d.Scanner)
}

func (d *decoder) dependencies(r *Resource) {
	base := len(d.keys)
	d.lists, r.PropertyDependencies = d.lists[:0], urn.Dependencies{}
	d.Scanner.Object(func(property string) {
		d.keys, d.lists = append(d.keys, property), append(d.lists, texts[urn.URN](d))
	})
	if len(d.lists) > 0 && !d.skim {
		r.PropertyDependencies = urn.NewDependencies(d.sharedKeys(d.keys[base:]), d.lists)
	}
	d.keys = d.keys[:base]
}

func (d *decoder) hooks(r *Resource) {
	var hooks map[string][]string
	d.Scanner.Object(func(kind string) {
		if hooks == nil {
			hooks = map[string][]string{}
		}
		hooks[kind] = texts[string](d)
	})
	r.ResourceHooks = hooks
}

func (d *decoder) field(r *Resource, key string) {
	if m := resourceMembersByName[key]; m != nil {
		m.read(d, r)
		d.scope = r.URN
		return
	}
	r.Unknown = keep(r.Unknown, strings.Clone(key), d.Raw())
}

func (d *decoder) properties(name string) value.Value {
	if d.Null() {
		return noProperties
	}
	if d.Next() != '{' {
		d.Unexpected("an object")
		return noProperties
	}
	start := d.Pos
	d.path = append(d.path[:0], name)
	v := d.object()
	d.path = d.path[:0]
	if d.Err == nil && (!v.Is(value.KindMap) || v.IsSecret()) {
		d.FailAt(start, "the %s of a resource should be an object", name)
		return noProperties
	}
	return v
}

func (d *decoder) timeouts(r *Resource) {
	d.Scanner.Object(func(key string) {
		switch key {
		case "create":
			r.CustomTimeouts.Create = d.Number()
		case "update":
			r.CustomTimeouts.Update = d.Number()
		case "delete":
			r.CustomTimeouts.Delete = d.Number()
		case "read":
			r.CustomTimeouts.Read = d.Number()
		default:
			r.UnknownTimeouts = keep(r.UnknownTimeouts, key, d.Raw())
		}
	})
}

// SyntaxError is returned for a state file that is not valid JSON or does not have the form of a state.
type SyntaxError = jsontext.Error

// newScanner returns a scanner for a state file, which may begin with a byte order mark. Text that is not UTF-8 is an
// error.
func newScanner(text string) *jsontext.Scanner {
	s := jsontext.New(text, jsontext.Options{MaxDepth: maxDepth})
	if !utf8.ValidString(text) { // replacing the bytes would change IDs or names
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				s.FailAt(i, "byte 0x%02x is not UTF-8: the file is damaged, or was written in another encoding", text[i])
				return s
			}
		}
	}
	if strings.HasPrefix(text, "\ufeff") {
		s.Pos = len("\ufeff")
	}
	return s
}

// FindResource returns the resource with the URN u from a state file without decoding the others; nil if there is none.
// It prefers a resource that is not pending deletion. Secrets stay sealed.
func FindResource(data []byte, u urn.URN) (*Resource, error) {
	var found *Resource
	member := func(text []byte, name string, fn func(value []byte) error) error {
		return jsontext.EachMember(text, func(key string, value []byte) error {
			if key != name || jsontext.IsNull(value) {
				return nil
			}
			return fn(value)
		})
	}
	each := func(item []byte) error {
		named := false
		if err := member(item, "urn", func(value []byte) error {
			text, err := jsontext.StringOf(value)
			named = text == string(u)
			return err
		}); !named || err != nil {
			return err
		}
		r, err := DecodeResource(item, nil)
		if err == nil && (found == nil || found.Delete) {
			found = r
		}
		return err
	}
	err := member(data, "checkpoint", func(checkpoint []byte) error {
		return member(checkpoint, "latest", func(latest []byte) error {
			return member(latest, "resources", func(list []byte) error { return jsontext.EachItem(list, each) })
		})
	})
	return found, err
}
