package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Program returns the imported resources as YAML, as the section of a program.
func (i *Importing) Program() string {
	states := map[urn.URN]*state.Resource{}
	if i.Result != nil {
		for _, r := range i.Result.Resources {
			if !r.Delete {
				states[r.URN] = r
			}
		}
	}
	names := map[urn.URN]string{} // their names in the program
	for name, u := range i.Table {
		names[u] = name
	}
	// Two names of the state may become one in the program. Names of the table are not in it: they are of resources
	// that the program has already.
	taken := map[string]bool{}
	for n := range i.Planned {
		p := &i.Planned[n]
		name := variable(p.Entry.Name)
		for k := 2; taken[name]; k++ {
			name = variable(p.Entry.Name) + strconv.Itoa(k)
		}
		taken[name] = true
		names[p.Urn] = name
	}
	var y yamlText
	y.line(0, "resources:")
	for n := range i.Planned {
		p := &i.Planned[n]
		r := states[p.Urn]
		// The import of this entry has failed.
		if r == nil {
			continue
		}
		y.line(1, literal.Scalar(names[p.Urn])+":")
		// The type is written as the user wrote it, which is the shorter form mostly.
		y.line(2, "type: "+literal.Scalar(p.Entry.Type))
		// Without this line the next update would take it for another resource.
		if names[p.Urn] != p.Entry.Name {
			y.line(2, "name: "+literal.Scalar(literal.Text(p.Entry.Name)))
		}
		inputs := r.Inputs
		if r.IsProvider() {
			inputs = inputs.Without("version") // the version is a resource option
		}
		y.properties(inputs, p.Entry.Properties)
		y.options(p, r, names)
	}
	return y.String()
}

// notInVariables matches what a name of the language cannot contain.
var notInVariables = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// variable converts a resource's name to one that a program can refer to.
func variable(name string) string {
	v := strings.Trim(notInVariables().ReplaceAllString(name, "-"), "-")
	// A name that begins with a digit would be a number inside of an expression.
	if v == "" || v[0] >= '0' && v[0] <= '9' {
		v = "r" + v
	}
	return v
}

// yamlText builds a YAML text that is indented by two spaces for each level.
type yamlText struct{ strings.Builder }

// line writes a line at a level.
func (y *yamlText) line(level int, text string) {
	y.WriteString(strings.Repeat("  ", level) + text + "\n")
}

// properties writes inputs of the state as a map, without those that providers keep for internal use. If only is not
// empty, it lists the keys to write.
func (y *yamlText) properties(inputs value.Value, only []string) {
	var keys []string
	for n, key := range inputs.Keys() {
		// Bridged providers keep such keys for themselves; null means that there is no value.
		if strings.HasPrefix(key, "__") || inputs.At(n).IsNull() || len(only) > 0 && !slices.Contains(only, key) {
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return
	}
	y.line(2, "properties:")
	for _, key := range keys {
		v, _ := inputs.Lookup(key)
		y.entry(6, "", literal.Scalar(literal.Key(key))+":", v)
	}
}

// options writes the options that the imported resource needs so that the next update changes nothing.
func (y *yamlText) options(p *PlannedImport, r *state.Resource, names map[urn.URN]string) {
	var lines []string
	if p.Parent != "" {
		lines = append(lines, "parent: ${"+names[p.Parent]+"}")
	}
	if r.Protect {
		lines = append(lines, "protect: true")
	}
	if p.provider != "" {
		lines = append(lines, "provider: ${"+names[p.provider]+"}")
	}
	// The version is the one that imported it. Another one may have other defaults.
	if p.Entry.Version != "" {
		lines = append(lines, "version: "+literal.Scalar(p.Entry.Version))
	}
	if p.Entry.PluginDownloadURL != "" {
		lines = append(lines, "pluginDownloadURL: "+literal.Scalar(p.Entry.PluginDownloadURL))
	}
	if len(lines) == 0 {
		return
	}
	y.line(2, "options:")
	for _, text := range lines {
		y.line(3, text)
	}
}

// entry writes lead, key and a value. lead is "- ", blanks of the same width, or empty. key ends in a colon, or is
// empty for an item of a list. indent is the number of spaces in front.
func (y *yamlText) entry(indent int, lead, key string, v value.Value) {
	below := indent + len(lead) + 2
	if key == "" {
		below = indent + len(lead)
	}
	head := func() { y.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(lead+key, " ") + "\n") }
	name, arg, isAsset := assetCall(v)
	items, _ := v.AsList()
	switch {
	// The plain text of a secret is written into the code: it has to come from somewhere.
	case v.IsSecret():
		y.call(indent, lead, key, below, "fn::secret:", v.Public())
	case isAsset:
		y.call(indent, lead, key, below, name+":", arg)
	case v.Is(value.KindMap) && v.Len() > 0:
		if key != "" {
			head()
			lead = ""
		}
		for n, name := range v.Keys() {
			switch {
			case key != "":
				y.entry(below, "", literal.Scalar(literal.Key(name))+":", v.At(n))
			// In a list the first key of a map stands behind the dash.
			case n == 0:
				y.entry(indent, lead, literal.Scalar(literal.Key(name))+":", v.At(n))
			default:
				y.entry(indent+len(lead), "", literal.Scalar(literal.Key(name))+":", v.At(n))
			}
		}
	case len(items) > 0:
		head()
		for _, item := range items {
			y.entry(below, "- ", "", item)
		}
	default:
		y.WriteString(strings.Repeat(" ", indent) + lead + strings.TrimLeft(key+" "+yamlLeaf(v), " ") + "\n")
	}
}

// call writes a call of the function name as a map with one key.
func (y *yamlText) call(indent int, lead, key string, below int, name string, arg value.Value) {
	if key == "" {
		y.entry(indent, lead, name, arg)
		return
	}
	y.WriteString(strings.Repeat(" ", indent) + lead + key + "\n")
	y.entry(below, "", name, arg)
}

// assetCall returns the function call that makes an asset or archive.
func assetCall(v value.Value) (name string, arg value.Value, ok bool) {
	if asset, ok := v.AsAsset(); ok {
		switch {
		case asset.Path != "":
			return "fn::fileAsset", value.String(asset.Path), true
		case asset.URI != "":
			return "fn::remoteAsset", value.String(asset.URI), true
		}
		// An empty asset is one with an empty text.
		return "fn::stringAsset", value.String(asset.Text), true
	}
	if archive, ok := v.AsArchive(); ok {
		switch {
		case archive.Path != "":
			return "fn::fileArchive", value.String(archive.Path), true
		case archive.URI != "":
			return "fn::remoteArchive", value.String(archive.URI), true
		}
		return "fn::assetArchive", archive.Assets, true
	}
	return "", value.Null, false
}

// yamlLeaf formats a value without members. One that YAML cannot express becomes null with a comment.
func yamlLeaf(v value.Value) string {
	if text, ok := v.AsString(); ok {
		return literal.Scalar(literal.Text(text))
	}
	if b, ok := v.AsBool(); ok {
		return strconv.FormatBool(b)
	}
	if n, ok := v.AsNumber(); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	switch {
	case v.Is(value.KindMap):
		return "{}"
	case v.IsNull():
		return "null"
	}
	if _, ok := v.AsList(); ok {
		return "[]"
	}
	return fmt.Sprintf("null # %s cannot be written in YAML", literal.JSON(v.String()))
}
