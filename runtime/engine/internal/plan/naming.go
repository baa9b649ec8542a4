package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// NamingSetting is the configuration key for the automatic names of resources (E4.126).
const NamingSetting = "pulumi:autonaming"

// NamingOptions are the inputs of automatic names besides the resource: the stack and its configuration.
type NamingOptions struct {
	Project, Stack, Organization string
	Config                       map[string]string // full key to plain text; objects as JSON
	ConfigSecretKeys             []string
}

// Naming holds the naming schemes. The most specific one applies: that of the type, then of the package, then the
// general one.
type Naming struct {
	all      *namingScheme
	packages map[string]*namingScheme
	types    map[string]*namingScheme
}

// namingScheme generates names. The zero scheme leaves naming to the provider.
type namingScheme struct {
	mode    string // propose, enforce or disable; empty for the provider's default
	pattern string // contains ${name} and the random placeholders
	insist  bool   // warn if the provider does not support autonaming
}

// random matches the placeholders for random text in a pattern.
var random = regexp.MustCompile(`\$\{(hex|alphanum|string|num)\((\d{1,3})\)\}|\$\{uuid\}`)

// NewNaming parses the setting. It returns nil, which names nothing, if there is none.
func NewNaming(o NamingOptions) (*Naming, error) {
	text := o.Config[NamingSetting]
	if text == "" {
		return nil, nil
	}
	if slices.Contains(o.ConfigSecretKeys, NamingSetting) {
		return nil, fmt.Errorf("%s cannot be secret: it becomes part of resource names", NamingSetting)
	}
	n := &Naming{packages: map[string]*namingScheme{}, types: map[string]*namingScheme{}}
	var packages, types map[string]json.RawMessage
	var err error
	if n.all, packages, err = o.section(NamingSetting, []byte(text), "providers"); err != nil {
		return nil, err
	}
	for pkg, body := range packages {
		key := NamingSetting + ".providers." + pkg
		if n.packages[pkg], types, err = o.section(key, body, "resources"); err != nil {
			return nil, err
		}
		for typ, body := range types {
			key := key + ".resources." + typ
			if n.types[typ], _, err = o.section(key, body, ""); err != nil {
				return nil, err
			}
			if n.types[typ] == nil {
				return nil, fmt.Errorf("%s is empty: give it a mode or a pattern", key)
			}
		}
	}
	return n, nil
}

// namingText is one section of the setting as written.
type namingText struct {
	key           string
	mode, pattern *string
	enforce       *bool
}

// section parses one section of the setting. It returns its scheme, nil if it defines none, and its subsections, which
// are listed under the key below; "" means that it must not have any.
func (o NamingOptions) section(path string, text []byte, below string) (
	scheme *namingScheme, sections map[string]json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, nil, fmt.Errorf("%s must be an object with a mode, or with a pattern", path)
	}
	s := &namingText{key: path}
	known := []string{"mode", "pattern", "enforce"}
	if below != "" {
		known = append(known, below)
	}
	for key, raw := range fields {
		dst, want := any(nil), "a text"
		switch {
		case key == "mode":
			dst = &s.mode
		case key == "pattern":
			dst = &s.pattern
		case key == "enforce":
			dst, want = &s.enforce, "true or false"
		case key == below:
			dst, want = &sections, "an object"
		default:
			fault := fmt.Sprintf("%s has no key %q", path, key)
			if near := diag.Suggest(key, known); len(near) > 0 {
				fault += fmt.Sprintf("; did you mean %q?", near[0])
			}
			return nil, nil, errors.New(fault)
		}
		if err := json.Unmarshal(raw, dst); err != nil {
			return nil, nil, fmt.Errorf("%s.%s must be %s", path, key, want)
		}
	}
	scheme, err = s.scheme(o)
	return scheme, sections, err
}

// scheme returns the scheme that a section defines, or nil if it defines none.
func (s *namingText) scheme(o NamingOptions) (*namingScheme, error) {
	switch {
	case s.mode != nil && (s.pattern != nil || s.enforce != nil):
		return nil, fmt.Errorf("%s has a mode and also a pattern or enforce: keep only the mode", s.key)
	case s.enforce != nil && s.pattern == nil:
		return nil, fmt.Errorf("%s has enforce, but no pattern to enforce", s.key)
	case s.pattern != nil:
		pattern, err := resolvePattern(*s.pattern, o)
		if err != nil {
			return nil, fmt.Errorf("%s.pattern: %w", s.key, err)
		}
		if s.enforce != nil && *s.enforce {
			return &namingScheme{mode: "enforce", pattern: pattern, insist: true}, nil
		}
		return &namingScheme{mode: "propose", pattern: pattern}, nil
	case s.mode == nil:
		return nil, nil
	}
	switch *s.mode {
	case "default":
		return &namingScheme{}, nil
	case "verbatim":
		return &namingScheme{mode: "enforce", pattern: "${name}"}, nil
	case "disabled":
		return &namingScheme{mode: "disable"}, nil
	}
	return nil, fmt.Errorf("%s.mode is default, verbatim or disabled, not %q", s.key, *s.mode)
}

// resolvePattern replaces the placeholders that are the same for all resources, and returns an error for unknown ones.
func resolvePattern(pattern string, o NamingOptions) (string, error) {
	var fault error
	resolved := expression.ReplaceAllStringFunc(pattern, func(found string) string {
		word := found[2 : len(found)-1]
		key, isConfig := strings.CutPrefix(word, "config.")
		switch {
		case word == "organization":
			return o.Organization
		case word == "project":
			return o.Project
		case word == "stack":
			return o.Stack
		case isConfig:
			if !strings.Contains(key, ":") {
				key = o.Project + ":" + key
			}
			text, ok := o.Config[key]
			if !ok && fault == nil {
				fault = fmt.Errorf("there is no configuration %s; set it with `config set %s`", key, key)
			}
			if slices.Contains(o.ConfigSecretKeys, key) && fault == nil {
				fault = fmt.Errorf("the configuration %s is secret, and names are not", key)
			}
			return text
		case word == "name", random.MatchString(found) && random.FindString(found) == found:
		case fault == nil:
			fault = fmt.Errorf(
				"%s is not known; the placeholders are ${name}, ${organization}, ${project}, ${stack}, ${config.KEY}, ${hex(N)}, "+
					"${alphanum(N)}, ${string(N)}, ${num(N)} and ${uuid}", found)
		}
		return found
	})
	return resolved, fault
}

// expression matches every placeholder in a pattern.
var expression = regexp.MustCompile(`\$\{[^}]*\}`)

// Of returns the naming for the Check request of a resource, or nil. fixed reports whether the name is always the same,
// so that a replacement must delete first (E4.127). Provider resources get no automatic names.
func (n *Naming) Of(r *state.Resource, seed []byte) (told *provider.Autonaming, fixed bool) {
	if n == nil || !r.Custom || r.IsProvider() {
		return nil, false
	}
	scheme := cmp.Or(n.types[r.Type], n.packages[urn.PackageOf(r.Type)])
	specific := scheme != nil
	scheme = cmp.Or(scheme, n.all)
	if scheme == nil || scheme.mode == "" {
		return nil, false
	}
	return &provider.Autonaming{Mode: scheme.mode, Name: scheme.name(r.URN.Name(), seed), Insist: specific ||
		scheme.insist}, !random.MatchString(scheme.pattern)
}

// name generates a name from the pattern. The same seed gives the same name.
func (s *namingScheme) name(resource string, seed []byte) string {
	// ChaCha8 is specified, so a seed in a plan file gives the same name in every version (E7.66).
	lot := rand.New(rand.NewChaCha8(sha256.Sum256(seed)))
	draw := func(n int, letters string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[lot.IntN(len(letters))]
		}
		return string(b)
	}
	const hexDigits, digits, lower = "0123456789abcdef", "0123456789", "abcdefghijklmnopqrstuvwxyz"
	name := random.ReplaceAllStringFunc(s.pattern, func(found string) string {
		parts := random.FindStringSubmatch(found)
		n, _ := strconv.Atoi(parts[2]) // the expression matches digits only
		switch parts[1] {
		case "hex":
			return draw(n, hexDigits)
		case "alphanum":
			return draw(n, lower+digits)
		case "string":
			return draw(n, lower)
		case "num":
			return draw(n, digits)
		}
		var id [16]byte
		for i := range id {
			id[i] = byte(lot.UintN(256))
		}
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
		text := hex.EncodeToString(id[:])
		return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	})
	return strings.ReplaceAll(name, "${name}", resource)
}
