package names

import (
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// stackKeys compares the keys that files of the stack set with those that the program reads. It owns nothing: the keys
// are those of the options, and what reads them are the nodes of the scope, so that it is asked once everything is
// linked.
type stackKeys struct{ scope *Scope }

// WarnUnread warns of keys in files of the stack that nothing reads. If the program has errors, which may hide what it
// reads, or if something else may read the project's keys, it warns only of certain misspellings.
func (s *Scope) WarnUnread() { stackKeys{s}.warn() }

// warn does the work of WarnUnread. Warning of a key that something reads would be worse than silence, and so the
// conditions are narrow: a component in another process, a dynamic type, a compiler or a policy pack may read any key,
// and in a program with errors nobody knows what it would read.
func (s stackKeys) warn() {
	complete := !s.scope.options.ConfigShared && len(s.scope.file.Dynamic) == 0 && !s.scope.report.All().HasErrors() &&
		!slices.ContainsFunc(s.scope.all, func(n *program.Node) bool {
			return n.Kind == program.ResourceNode && n.IsRemote()
		})
	unset := s.unset()
	// Sorted, since a map's order would give the findings another order in each check.
	for _, key := range slices.Sorted(maps.Keys(s.scope.options.Config)) {
		text := s.scope.options.Config[key]
		// A value of the project file is every stack's, and a key without a place in a file came from elsewhere: there
		// is nothing to point at.
		if text.Project || text.Key.IsZero() {
			continue
		}
		s.warnLiteral(key, text)
		namespace, name, _ := strings.Cut(key, ":")
		meant := s.misspells(key, unset)
		hidden := namespace == s.scope.options.Project && s.scope.declared[name] != nil
		if hidden || s.scope.byKey[key] != nil || meant != "" && s.required(meant) {
			continue // read, or reported where something hides it or where it is missing
		}
		d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownKey, Subject: text.Key,
			Summary: "nothing reads the configuration " + key}
		switch {
		case meant != "":
		case namespace == s.scope.options.Project:
			if meant = s.namespaced(name); meant == "" && !complete {
				continue
			}
		case s.twice(namespace, name):
			d.Detail = "the stack sets `" + s.scope.options.Project + ":" + name +
				"`, which the program reads: leave this one out"
			s.scope.report.Add(d)
			continue
		default:
			if meant = s.known(namespace, name); meant == "" {
				continue
			}
		}
		if d.Detail = "declare it under `config` of the program, or leave it out"; meant != "" {
			d.Detail, d.Fixes = findings.DidYouMean([]string{meant}), s.renameKey(text.Key, key, meant)
		} else if near := s.set(name); near != "" {
			d.Detail = "did you mean `" + near + "`, which is set too? Then leave this one out"
		}
		s.scope.report.Add(d)
	}
}

// Misspelt returns the place in a file of the stack where a declared key that has no value is certainly misspelt, and
// the wrong spelling; an empty one if there is none. The checker asks for it where it would report the declared key as
// missing: one finding at the misspelt key takes the place of two.
func (s *Scope) Misspelt(declared string) (place diag.Range, wrong string) {
	keys := stackKeys{s}
	unset := keys.unset()
	for _, key := range slices.Sorted(maps.Keys(s.options.Config)) {
		text := s.options.Config[key]
		if !text.Project && !text.Key.IsZero() && s.byKey[key] == nil && keys.misspells(key, unset) == declared {
			return text.Key, key
		}
	}
	return diag.Range{}, ""
}

// unset returns the declared keys without a value of the stack.
func (s stackKeys) unset() (keys []string) {
	for _, n := range s.scope.all {
		if n.Kind == program.ConfigNode && n.Config.Decl != nil {
			if text, set := s.scope.options.Config[n.Config.Key]; !set || text.Project {
				keys = append(keys, n.Config.Key)
			}
		}
	}
	return keys
}

// required reports whether a declared key needs a value of the stack.
func (s stackKeys) required(key string) bool {
	n := s.scope.byKey[key]
	_, set := s.scope.options.Config[key]
	return n != nil && !set && n.Config.Decl.Default == nil && !n.Config.Decl.Optional.IsTrue()
}

// misspells returns the unset key of the project that a key certainly is a misspelling of: in its name, or in its
// namespace, where no package of the program has that; empty for none. A declared key that has a value is no candidate:
// a stack may set both.
func (s stackKeys) misspells(key string, unset []string) string {
	// Without a stack every key may still be set by one.
	if !s.scope.options.ConfigKnown {
		return ""
	}
	namespace, name, _ := strings.Cut(key, ":")
	if namespace == s.scope.options.Project {
		return diag.Meant(key, diag.Suggest(key, unset))
	}
	own := s.scope.options.Project + ":" + name
	if s.hasPackage(namespace) || namespace == packages.BuiltinName ||
		!diag.Surely(namespace, s.scope.options.Project) {
		return ""
	}
	if slices.Contains(unset, own) {
		return own
	}
	return ""
}

// twice reports whether a namespace certainly is a misspelling of the project's, and the stack sets the key of that
// name in the project's namespace too.
func (s stackKeys) twice(namespace, name string) bool {
	own := s.scope.options.Project + ":" + name
	text, set := s.scope.options.Config[own]
	return set && !text.Project && s.scope.byKey[own] != nil && namespace != packages.BuiltinName &&
		!s.hasPackage(namespace) && diag.Surely(namespace, s.scope.options.Project)
}

// set returns the name of the project's key that has a value of the stack and may be meant by another; empty for none.
func (s stackKeys) set(name string) string {
	var names []string
	for key := range s.scope.byKey {
		namespace, read, _ := strings.Cut(key, ":")
		if text, set := s.scope.options.Config[key]; set && !text.Project && namespace == s.scope.options.Project {
			names = append(names, read)
		}
	}
	if near := diag.Suggest(name, names); len(near) > 0 {
		return near[0]
	}
	return ""
}

// namespaced returns the key meant by a name of the project with another mark than a colon behind its namespace, as in
// aws.region; empty if the name is no such.
func (s stackKeys) namespaced(name string) string {
	i := strings.IndexAny(name, "./")
	if i < 0 {
		return ""
	}
	namespace, rest := name[:i], name[i+1:]
	if rest != "" && (namespace == s.scope.options.Project || s.hasPackage(namespace)) {
		return namespace + ":" + rest
	}
	return ""
}

// known returns the key of a package, or of the host, that a key certainly is a misspelling of; empty for none.
func (s stackKeys) known(namespace, name string) string {
	var names []string
	if namespace == packages.BuiltinName {
		names = []string{"tags", "autonaming", "disable-default-providers", "template"}
	} else if inputs := s.scope.packages.InputsOf("pulumi:providers:" + namespace); s.hasPackage(namespace) && inputs != nil {
		for _, p := range inputs.Properties() {
			names = append(names, p.Name)
		}
	}
	if slices.Contains(names, name) {
		return ""
	}
	if meant := diag.Meant(name, diag.Suggest(name, names)); meant != "" {
		return namespace + ":" + meant
	}
	return ""
}

// hasPackage reports whether the program uses a package.
func (s stackKeys) hasPackage(name string) bool {
	return slices.ContainsFunc(s.scope.packages.Descriptors(), func(d schema.Descriptor) bool {
		return d.PackageName() == name
	})
}

// interpolation matches a placeholder up to the end of its first name.
var interpolation = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_:-]*)[.\[}]`)

// function matches a key of a JSON object that calls a function in programs.
var function = lazyregexp.New(`"(fn::[A-Za-z:]+)":`)

// warnLiteral warns of a value with a call or a placeholder: files of stacks have none. A text of several lines, such
// as a script, may have placeholders of another language; there, only names of the program's declarations are reported.
func (s stackKeys) warnLiteral(key string, text program.ConfigText) {
	// The text of a secret must not be shown, and a value that was not read has none.
	if text.Secret || text.Unread || key == ast.NamingKey {
		return
	}
	if call := function().FindStringSubmatch(text.Text); text.Structured && call != nil {
		detail := "a stack's configuration has no functions: make it a variable of the program, or write the value"
		if strings.EqualFold(call[1], "fn::secret") {
			detail = "it is written as it stands, and shown: a secret is set with `yamlhost config set --secret`"
		}
		s.scope.report.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: text.Key,
			Summary: "`" + call[1] + "` in the configuration " + key + " is plain data", Detail: detail})
		return
	}
	lines := strings.Contains(text.Text, "\n") || text.Structured && strings.Contains(text.Text, `\n`) // in JSON
	for _, m := range interpolation().FindAllStringSubmatchIndex(text.Text, -1) {
		name := text.Text[m[2]:m[3]]
		known := s.scope.declared[name] != nil || s.scope.byKey[s.scope.fullKey(name)] != nil
		// `$${` writes the placeholder itself, as in a program.
		if !known && lines || m[0] > 0 && text.Text[m[0]-1] == '$' {
			continue
		}
		detail := "a stack's configuration has no expressions: make it a variable of the program, or write the value"
		if !known {
			detail = "a stack's configuration has no expressions: write the value, or take it from an environment"
		}
		s.scope.report.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: text.Key,
			Summary: "`${" + name + "}` in the configuration " + key + " is plain text", Detail: detail})
		return
	}
}

// renameKey returns the fix that writes another key at a place, in its short form if that is what stands there.
func (s stackKeys) renameKey(at diag.Range, key, meant string) []diag.Fix {
	prefix := s.scope.options.Project + ":"
	short, isShort := strings.CutPrefix(key, prefix)
	switch written := at.Text(); {
	case written == key:
		return findings.RenameTo(at, key, meant)
	case isShort && written == short:
		return findings.RenameTo(at, short, strings.TrimPrefix(meant, prefix))
	}
	return nil
}
