package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Text is a configuration value for programs.
type Text struct {
	Text        string
	Secret      bool
	FromProject bool // from the project file, not from the stack
	Inherited   bool // from an environment, at least in part
	Structured  bool // a list or a map, as JSON
	Unread      bool // not known: a secret whose Opener has not been asked (ErrUnread), or part of an environment
	Refused     bool // of another type than declared
	// Key and Value are the places of the key and of its value in a file of the stack, its settings or an environment;
	// zero for a value from elsewhere, and for one that was set since the file was read. A value from the project file
	// has a place too, and no key.
	Key, Value diag.Range
}

// ErrUnread is returned by an Opener that must not call a key service.
var ErrUnread = errors.New("the key service is not used")

// Unread is an Opener that opens no secret.
type Unread struct{}

// Decrypt returns ErrUnread.
func (Unread) Decrypt(string) (string, error) { return "", ErrUnread }

// Merge returns the configuration of a stack: its own values, over those of its environments (Inherit), with the
// project file's values for missing keys (L2.2, F3.5). Missing values and values of a wrong type are diagnostics
// (L2.14, L2.15). The error is one of decryption; open is called only for secrets.
func Merge(p *Project, s *Settings, stack string, open Opener) (map[Key]Text, diag.Diagnostics, error) {
	config := make(map[Key]Text, len(s.entries)+len(p.Config))
	data := make(map[Key]any, len(s.entries))
	for _, e := range s.entries {
		text, v, err := e.Open(open)
		if errors.Is(err, ErrUnread) {
			config[e.Key] = Text{Secret: true, Unread: true, Key: e.Place, Value: e.Range}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		config[e.Key], data[e.Key] = Text{Text: text, Secret: e.IsSecret(), Structured: isStructured(v), Key: e.Place,
			Value: e.Range}, v
	}
	s.inherited.addTo(config, data)
	var diags diag.Diagnostics
	for _, decl := range p.Config {
		found, set := config[decl.Key]
		if !set {
			diags.Add(fromProject(p, decl, stack, config)...)
			continue
		}
		where, way := found.Value, "make it secret in its environment, with fn::secret"
		if s.Entry(decl.Key) != nil {
			way = "set it anew: yamlhost config set --secret " + decl.Key.Name
		}
		if where.IsZero() {
			where = decl.Place
		}
		if !found.Unread && !fits(decl.Type, data[decl.Key], false) {
			wrong := wrongType(decl, found, stack, where)
			switch {
			case decl.Secret && found.Secret && s.Entry(decl.Key) == nil:
				wrong.Detail = "give it another value in its environment"
			case decl.Secret:
				wrong.Detail = way
			}
			diags.Add(wrong)
			found.Refused = true
			config[decl.Key] = found
			continue
		}
		if decl.Own && decl.Type != nil && decl.Secret && !found.Secret {
			diags.Add(diag.Diagnostic{Code: diag.ConfigConversion, Subject: where, Confidential: true,
				Summary: fmt.Sprintf("config %s: the value in stack %s is not encrypted, but the key is secret", decl.Key, stack),
				Detail:  way})
		}
	}
	return config, diags, nil
}

func isStructured(data any) bool {
	switch data.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// fromProject takes a key's value from the project file.
func fromProject(p *Project, decl *Declaration, stack string, config map[Key]Text) diag.Diagnostics {
	switch {
	case decl.Value != nil:
		config[decl.Key] = Text{Text: decl.Value.Text, Secret: decl.Secret, FromProject: true, Value: decl.Value.Range}
	case decl.Default != nil:
		config[decl.Key] = Text{Text: decl.Default.Text, Secret: decl.Secret, FromProject: true,
			Value: decl.Default.Range}
	case decl.Own && !decl.Optional:
		secret := ""
		if decl.Secret {
			secret = "--secret "
		}
		if wrong, found := misspelt(p, decl.Key, config); found {
			return diag.Diagnostics{{Code: diag.ConfigMissing, Subject: config[wrong].Key,
				Summary: fmt.Sprintf("config %s is required, and stack %s sets %s", decl.Key, stack, wrong),
				Detail:  "did you mean `" + decl.Key.String() + "`?", Related: []diag.Related{{Range: decl.Place, Message: "declared here"}}}}
		}
		return diag.Diagnostics{{Code: diag.ConfigMissing, Subject: decl.Place,
			Summary: fmt.Sprintf("config %s is required and stack %s has no value", decl.Key, stack),
			Detail:  fmt.Sprintf("set it with: yamlhost config set %s%s <value>", secret, decl.Key.Name)}}
	}
	return nil
}

// misspelt returns a key in a file of the stack that certainly is a misspelling of a declared one without a value.
func misspelt(p *Project, declared Key, config map[Key]Text) (wrong Key, found bool) {
	for key, text := range config {
		if key.Namespace == declared.Namespace && !text.Key.IsZero() && diag.Meant(key.Name, []string{declared.Name}) != "" &&
			!slices.ContainsFunc(p.Config, func(d *Declaration) bool { return d.Key == key }) &&
			(!found || key.Name < wrong.Name) {
			wrong, found = key, true
		}
	}
	return wrong, found
}

func wrongType(decl *Declaration, found Text, stack string, where diag.Range) diag.Diagnostic {
	what := "the value"
	if !found.Secret && !decl.Secret {
		text, _, _ := strings.Cut(found.Text, "\n") // fits on a line
		what = "`" + diag.Shorten(text, 40) + "`"
	}
	finding := diag.Diagnostic{Code: diag.ConfigConversion, Subject: where, Confidential: decl.Secret,
		Summary: fmt.Sprintf("config %s in stack %s: %s is not %s", decl.Key, stack, what, diag.WithArticle(decl.Type.String())),
		Related: []diag.Related{{Range: decl.Place, Message: "declared here"}}}
	if decl.Type.Name == "array" {
		finding.Detail = fmt.Sprintf("set its items with: yamlhost config set --path '%s[0]' <value>", decl.Key.Name)
	}
	return finding
}
