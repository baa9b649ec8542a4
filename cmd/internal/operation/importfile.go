package operation

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// ImportPlaceholder stands for the IDs in the file of `preview --import-file`. The user replaces it.
const ImportPlaceholder = "<PLACEHOLDER>"

// ImportFileFlag adds --import-file.
func ImportFileFlag(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().StringVar(&o.importFile, "import-file", "",
		"write what the plan would create to this file, for import with --file; fill in the IDs")
}

// wantedCreates holds the resources that a plan would create, and the providers that they refer to.
type wantedCreates struct {
	created   []*state.Resource
	providers map[urn.URN]*state.Resource
	found     map[urn.URN]bool // the created resources
}

func (w *wantedCreates) note(e *engine.StepStarted) {
	s := e.Step
	if s.New == nil {
		return
	}
	if s.New.IsProvider() {
		w.providers[s.URN] = s.New
	}
	isDefault := s.URN.IsDefaultProvider()
	if s.Op == engine.OpCreate && s.Type != urn.RootStackType && s.New.ViewOf == "" && !isDefault {
		w.found[s.URN] = true
		w.created = append(w.created, s.New)
	}
}

// SavedImport is an entry of an import file that is written. Empty members are omitted.
type SavedImport struct {
	Type              string            `json:"type"`
	Name              string            `json:"name"`
	ID                string            `json:"id,omitempty"`
	Parent            string            `json:"parent,omitempty"`
	Provider          string            `json:"provider,omitempty"`
	Version           string            `json:"version,omitempty"`
	PluginDownloadURL string            `json:"pluginDownloadUrl,omitempty"`
	Component         bool              `json:"component,omitempty"`
	Remote            bool              `json:"remote,omitempty"`
	Inputs            json.RawMessage   `json:"inputs,omitempty"`
	LogicalName       string            `json:"logicalName,omitempty"`
	Parameterization  *ImportParameters `json:"parameterization,omitempty"`
	Extension         *ImportExtension  `json:"extension,omitempty"`
}

// save writes the resources that would be created to the named file, with a placeholder for each ID, and with secrets
// sealed by sealer. waiting is the number of placeholders.
func (w *wantedCreates) save(a *console.Console, name string, sealer secrets.Manager) (waiting int, err error) {
	slices.SortStableFunc(w.created, inProgramOrder)
	names := w.names()
	table := map[string]urn.URN{}
	var entries []SavedImport
	for _, r := range w.created {
		e := SavedImport{Type: r.Type, Name: names[r.URN], Component: !r.Custom}
		if e.Name != r.URN.Name() {
			e.LogicalName = r.URN.Name()
		}
		nameOf := func(u urn.URN) string {
			if !w.found[u] {
				table[names[u]] = u
			}
			return names[u]
		}
		if r.Parent != "" && r.Parent.Type() != urn.RootStackType {
			e.Parent = nameOf(r.Parent)
		}
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			if !ref.URN.IsDefaultProvider() {
				e.Provider = nameOf(ref.URN)
			}
			e.describe(w.providers[ref.URN])
			e.Remote = !r.Custom
		}
		switch {
		case r.IsProvider():
			if err := e.configure(a.Streams.Err, r, sealer); err != nil {
				return waiting, err
			}
		case r.Custom:
			e.ID = ImportPlaceholder
			waiting++
		}
		entries = append(entries, e)
	}
	return waiting, WriteImports(a, name, table, entries)
}

// WriteImports writes an import file (F7.13) with the given name; - is standard output.
func WriteImports(a *console.Console, name string, table map[string]urn.URN, entries []SavedImport) error {
	document := importDocument{table, entries}
	var text bytes.Buffer
	if err := jsontext.Write(&text, document, "    "); err != nil { // indented, so that users find the placeholder
		return err
	}
	if name == "-" {
		_, err := a.Streams.Out.Write(text.Bytes())
		return err
	}
	if err := os.WriteFile(a.Path(name), text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the import file: %w", err)
	}
	return nil
}

// inProgramOrder compares resources by their place in the program, and those without a place by name.
func inProgramOrder(a, b *state.Resource) int {
	p, q := view.PositionIn(a.SourcePosition), view.PositionIn(b.SourcePosition)
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(a.URN, b.URN))
}

// names returns the name of each resource in the file: the resource's own, if it is unique.
func (w *wantedCreates) names() map[urn.URN]string {
	names, taken := map[urn.URN]string{}, map[string]bool{}
	call := func(u urn.URN) {
		if names[u] != "" || u == "" {
			return
		}
		name := u.Name()
		if taken[name] {
			_, last, _ := strings.Cut(u.Type(), ":")
			last = last[strings.LastIndex(last, ":")+1:]
			if last != "" {
				name += strings.ToUpper(last[:1]) + last[1:]
			}
		}
		for base, n := name, 2; taken[name]; n++ {
			name = base + strconv.Itoa(n)
		}
		names[u], taken[name] = name, true
	}
	for _, r := range w.created {
		call(r.URN)
	}
	others := map[urn.URN]bool{}
	for _, r := range w.created {
		others[r.Parent] = true
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			others[ref.URN] = true
		}
	}
	for _, u := range slices.Sorted(maps.Keys(others)) {
		call(u)
	}
	return names
}

// Of records the package of the type. An extension is not recorded if its provider has no name, since import files
// cannot express it; the project declares it.
func (e *SavedImport) Of(d schema.Descriptor) {
	e.Version, e.PluginDownloadURL = d.PackageVersion(), d.DownloadURL
	switch q := d.Parameterization; {
	case q == nil:
	case !d.Extension:
		e.Parameterization = &ImportParameters{PluginName: d.Name, PluginVersion: d.Version, Value: q.Value}
	case e.Provider != "":
		e.Version, e.Extension = d.Version, &ImportExtension{Name: q.Name, Version: q.Version, Value: q.Value}
	default:
		e.Version, e.PluginDownloadURL = "", ""
	}
}

// describe adds the plugin of a provider.
func (e *SavedImport) describe(provider *state.Resource) {
	if provider == nil {
		return
	}
	text := func(v value.Value, key string) string {
		s, _ := v.Get(key).AsString()
		return s
	}
	internal := provider.Inputs.Get("__internal")
	e.Version, e.PluginDownloadURL = text(provider.Inputs, "version"), text(internal, "pluginDownloadURL")
	if blob := text(internal, "parameterization"); blob != "" {
		data, err := base64.StdEncoding.DecodeString(blob)
		if err == nil {
			e.Parameterization = &ImportParameters{PluginName: text(internal, "name"), PluginVersion: text(internal, "version"),
				Value: data}
		}
	}
}

// MadeOf returns the parameterized package of a provider in the state; made is false for any other package.
func MadeOf(provider *state.Resource) (d schema.Descriptor, made bool) {
	var e SavedImport
	e.describe(provider)
	q := e.Parameterization
	if q == nil {
		return d, false
	}
	return schema.Descriptor{Name: q.PluginName, Version: q.PluginVersion, DownloadURL: e.PluginDownloadURL,
		Parameterization: &schema.Parameterization{Name: strings.TrimPrefix(provider.Type, urn.ProviderType("")), Version: e.Version,
			Value: q.Value}}, true
}

// configure writes a provider's configuration, secrets sealed. It omits values that are unknown in the plan, and
// reports them on out.
func (e *SavedImport) configure(out io.Writer, r *state.Resource, sealer secrets.Manager) error {
	e.describe(r)
	inputs := r.Inputs.Without("__internal").Without("version")
	var missing []string
	for _, key := range slices.Clone(inputs.Keys()) {
		if r.Inputs.Get(key).ContainsUnknown() {
			missing = append(missing, key)
			inputs = inputs.Without(key)
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(out, "warning: %s: not known yet, and to be filled in: %s\n", r.URN,
			strings.Join(missing, ", "))
	}
	if inputs.Len() == 0 {
		return nil
	}
	text, err := state.AppendValue(nil, inputs, state.Sealed(sealer))
	if err != nil {
		return fmt.Errorf("write the configuration of %s: %w", r.URN, err)
	}
	e.Inputs = text
	return nil
}

// ImportParameters are the parameters that turn a plugin into the package of a resource.
type ImportParameters struct {
	PluginName    string `json:"pluginName"`
	PluginVersion string `json:"pluginVersion"`
	Value         []byte `json:"value"`
}

// ImportExtension describes the extension that adds a resource's package to a plugin.
type ImportExtension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// JsonFault returns the description of a JSON error without the wording of encoding/json.
func JsonFault(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("its JSON is faulty at byte %d", syntax.Offset)
	}
	return err
}
