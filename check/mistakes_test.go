package check_test

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// mistake is a correct program with one mistake, and the expected finding.
type mistake struct {
	kind  string
	text  string
	codes []diag.Code
	// places are the ranges that a diagnostic may have, in bytes of text. With wholeLine, it only has to begin on one of
	// their lines, since faults of YAML have no exact place.
	places    [][2]int
	wholeLine bool
	suggests  string // part of the expected message
}

// mistakesPerKind bounds the mistakes of one kind in one program.
const mistakesPerKind = 2

// TestSeededMistakes makes known mistakes in the programs of the sample. testdata/mistakes.txt names each mistake whose
// finding lacks something, and what it lacks: a gain elsewhere does not make up for one more.
func TestSeededMistakes(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, line := range seedMistakes(t, sampleLoader()) {
		fmt.Fprintln(&got, line)
	}
	const golden = "testdata/mistakes.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "run with -update to accept")
}

// TestSeededMistakesInRealSchemas does the same with whole schemas, which have more similar names. They change from one
// release of a provider to the next, so that it holds shares.
func TestSeededMistakesInRealSchemas(t *testing.T) {
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		t.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this test")
	}
	s, err := openShelf(dir)
	require.NoError(t, err)
	seedMistakes(t, s.loader(""))
}

// seedMistakes returns a line for each mistake that has no perfect finding. The shares of those that have must not fall
// below limits.
func seedMistakes(t *testing.T, l schema.Loader) (lacking []string) {
	tallies := make(map[string]*tally)
	total := &tally{}
	providers := make(map[string]bool)
	fixes, right := 0, 0
	for _, p := range samplePrograms(t) {
		count := make(map[string]int)
		for _, m := range mistakesIn(t, p, l) {
			count[m.kind]++
			providers[p.provider] = true
			if tallies[m.kind] == nil {
				tallies[m.kind] = &tally{}
			}
			outcome := judge(t, p, m, l)
			total.add(outcome)
			lacks := outcome.lacks()
			if fixed, n := fix(t, m.text, l); n > 0 {
				fixes++
				if fixed == p.text || fixed == m.corrected() {
					right++
				} else {
					lacks = append(lacks, "another fix than the correct program")
				}
			}
			tallies[m.kind].add(outcome)
			if len(lacks) > 0 {
				lacking = append(lacking, fmt.Sprintf("%s/%s: %s %d: %s", p.provider, p.name, m.kind, count[m.kind],
					strings.Join(lacks, ", ")))
				if os.Getenv("YAMLHOST_MISTAKES") != "" {
					t.Logf("%s\n%s", lacking[len(lacking)-1], told(t, p, m, l))
				}
			}
		}
	}
	var kinds []string
	for kind := range tallies {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	t.Logf("%-22s %s", "", tallyHeader)
	for _, kind := range kinds {
		t.Logf("%-22s %s", kind, tallies[kind])
	}
	t.Logf("%-22s %s (%d schemas)", "all", total, len(providers))
	t.Logf("%d fixes, %d of them give the correct program back", fixes, right)
	require.GreaterOrEqual(t, total.cases, 500)
	require.GreaterOrEqual(t, len(providers), 5)
	require.Greater(t, fixes, 300)
	require.GreaterOrEqual(t, total.share(total.found), 99.0, "found")
	require.GreaterOrEqual(t, total.share(total.exact), 98.0, "with the exact range")
	for kind, y := range tallies {
		require.Equal(t, y.cases, y.single, "%s: more than one diagnostic, or none", kind)
	}
	require.GreaterOrEqual(t, total.share(total.suggested), 90.0, "with a suggestion")
	require.GreaterOrEqual(t, 100*float64(right)/float64(fixes), 99.0, "a fix is certain")
	return lacking
}

// outcome is the checker's result for a mistake.
type outcome struct{ found, exact, single, suggested bool }

// lacks returns what is missing of a finding about the mistake, and no other one, at its exact range and with the way out.
func (v outcome) lacks() (missing []string) {
	if !v.found {
		missing = append(missing, "no finding")
	} else if !v.exact {
		missing = append(missing, "another range")
	}
	if v.found && !v.single {
		missing = append(missing, "further findings")
	}
	if v.found && !v.suggested {
		missing = append(missing, "no suggestion")
	}
	return missing
}

type tally struct{ cases, found, exact, single, suggested int }

const tallyHeader = "cases   found   exact  single suggested"

func (y *tally) add(v outcome) {
	one := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	y.cases++
	y.found += one(v.found)
	y.exact += one(v.exact)
	y.single += one(v.single)
	y.suggested += one(v.suggested)
}

func (y *tally) share(n int) float64 { return 100 * float64(n) / float64(y.cases) }

func (y *tally) String() string {
	return fmt.Sprintf("%5d %6.1f%% %6.1f%% %6.1f%% %6.1f%%", y.cases, y.share(y.found), y.share(y.exact),
		y.share(y.single), y.share(y.suggested))
}

// judge checks a program with a mistake. Findings of the program without the mistake do not count.
func judge(t *testing.T, p sampleProgram, m mistake, l schema.Loader) outcome {
	before := make(map[string]int)
	for _, d := range findings(t, p.text, l) {
		before[string(d.Code)+d.Summary]++
	}
	var v outcome
	count := 0
	for _, d := range findings(t, m.text, l) {
		key := string(d.Code) + d.Summary
		if before[key] > 0 {
			before[key]--
			continue
		}
		count++
		if v.found || !slices.Contains(m.codes, d.Code) {
			continue
		}
		v.found = true
		v.suggested = strings.Contains(d.Summary+"\n"+d.Detail, m.suggests)
		for _, place := range m.places {
			if m.wholeLine {
				line := func(offset int) int { return strings.Count(m.text[:offset], "\n") }
				i := line(int(d.Subject.Start))
				v.exact = v.exact || line(place[0]) <= i && i <= line(place[1])
			} else if int(d.Subject.Start) == place[0] && int(d.Subject.End) == place[1] {
				v.exact = true
			}
		}
	}
	v.single = count == 1
	return v
}

// corrected returns the text with the suggestion in place of the mistake.
func (m mistake) corrected() string {
	word, start := strings.Trim(m.suggests, "`"), m.places[0][0]
	if m.text[start] == '.' {
		start++
	}
	return m.text[:start] + word + m.text[m.places[0][1]:]
}

// fix applies the fixes of a program's findings.
func fix(t *testing.T, text string, l schema.Loader) (string, int) {
	return applied(text, findings(t, text, l))
}

// applied returns the text with the fixes of findings applied, and their number.
func applied(text string, found diag.Diagnostics) (string, int) {
	if len(found) == 0 || found[0].Subject.Source == nil {
		return text, 0
	}
	chosen := slices.Clone(found) // a person follows every suggestion
	for i, d := range chosen {
		chosen[i].Fixes = slices.Clone(d.Fixes)
		for j := range d.Fixes {
			chosen[i].Fixes[j].Guess = false
		}
	}
	fixed, n := diag.ApplyFixes(found[0].Subject.Source, chosen)
	return string(fixed), n
}

// findings returns the errors and warnings of a program.
func findings(t *testing.T, text string, l schema.Loader) diag.Diagnostics {
	file, found := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	_, more := check.Check(t.Context(), file, check.Options{Project: "docs", Schemas: l})
	found.Add(more...)
	var kept diag.Diagnostics
	for _, d := range diag.Folded(found) {
		if d.Severity <= diag.Warning {
			kept.Add(d)
		}
	}
	return kept
}

// told returns the findings about a mistake and the expected ones, for the log.
func told(t *testing.T, p sampleProgram, m mistake, l schema.Loader) string {
	var b strings.Builder
	require.NoError(t, diag.WriteText(&b, findings(t, m.text, l), diag.TextOptions{}))
	for _, place := range m.places {
		fmt.Fprintf(&b, "wanted %v at %d-%d %q saying %q\n", m.codes, place[0], place[1], m.text[place[0]:place[1]],
			m.suggests)
	}
	return b.String()
}

// breaker makes mistakes in one program.
type breaker struct {
	text     string
	program  *check.Program
	mistakes []mistake
	counts   map[string]int
}

func mistakesIn(t *testing.T, p sampleProgram, l schema.Loader) []mistake {
	file, _ := parser.Parse(diag.NewSource("Main.yaml", []byte(p.text)), parser.Options{})
	program, _ := check.Check(t.Context(), file, check.Options{Project: "docs", Schemas: l})
	b := &breaker{text: p.text, program: program, counts: make(map[string]int)}
	for _, n := range program.Nodes {
		if n.Kind == check.ResourceNode && n.Resource.Schema != nil {
			b.breakResource(n)
		}
	}
	for _, n := range program.Nodes {
		b.breakExprs(n)
	}
	b.breakSyntax()
	b.breakSections()
	return b.mistakes
}

// add makes a mistake: it replaces the text from start to end. places are those of mistake, in the new text.
func (b *breaker) add(kind string, start, end int, replacement, suggests string, places [][2]int, codes ...diag.Code) {
	b.put(mistake{kind: kind, text: b.text[:start] + replacement + b.text[end:], codes: codes, places: places,
		suggests: suggests})
}

func (b *breaker) put(m mistake) {
	if b.counts[m.kind]++; b.counts[m.kind] <= mistakesPerKind {
		b.mistakes = append(b.mistakes, m)
	}
}

// replaced returns the place of a replacement.
func replaced(start int, replacement string) [][2]int {
	return [][2]int{{start, start + len(replacement)}}
}

// misspell swaps two letters in the middle of a word, or leaves one out.
func misspell(word string) string {
	i := len(word) / 2
	if i == 0 {
		return word + "x"
	}
	if word[i-1] != word[i] {
		return word[:i-1] + string(word[i]) + string(word[i-1]) + word[i+1:]
	}
	return word[:i] + word[i+1:]
}

// site is a property that a program sets.
type site struct {
	key      ast.Literal
	value    ast.Expr
	property *schema.Property
	object   *schema.Object
	depth    int
}

func (b *breaker) breakResource(n *check.Node) {
	r := n.Resource
	var sites []site
	for _, p := range r.Decl.Properties {
		sites = append(sites, sitesIn(p.Name, p.Value, r.Schema.Inputs, 0)...)
	}
	for _, s := range sites {
		b.misspeltProperty(s)
		b.wrongType(s)
		b.wrongEnum(s)
		b.duplicateProperty(s)
		b.foreignTemplate(n, s)
	}
	for i, s := range sites {
		if s.depth == 0 {
			b.missingRequired(n, s, sites[i+1:])
			b.wrongLevel(n, s)
		}
	}
	b.wrongTokens(n)
	b.wrongOptions(n)
	b.cycle(n)
	b.duplicateResource(n)
}

// sitesIn returns a property and the properties inside its value.
func sitesIn(key ast.Literal, v ast.Expr, o *schema.Object, depth int) []site {
	p := o.Property(key.Value)
	if p == nil {
		return nil
	}
	found := []site{{key, v, p, o, depth}}
	var inside func(v ast.Expr, t schema.Type)
	inside = func(v ast.Expr, t schema.Type) {
		switch t := schema.Required(t).(type) {
		case *schema.Object:
			if m, ok := v.(*ast.Map); ok {
				for _, entry := range m.Entries {
					if name, ok := entry.Key.(*ast.String); ok {
						found = append(found, sitesIn(ast.Literal{Value: name.Value, Range: name.Range()}, entry.Value, t, depth+1)...)
					}
				}
			}
		case *schema.Array:
			if list, ok := v.(*ast.List); ok {
				for _, item := range list.Items {
					inside(item, t.Item)
				}
			}
		}
	}
	inside(v, p.Type)
	return found
}

func (b *breaker) misspeltProperty(s site) {
	wrong := misspell(s.key.Value)
	if len(s.key.Value) < 4 || s.key.Range.Text() != s.key.Value || s.object.Property(wrong) != nil {
		return
	}
	kind := "misspelt property"
	if s.depth > 0 {
		kind = "misspelt member"
	}
	start := int(s.key.Range.Start)
	b.add(kind, start, int(s.key.Range.End), wrong, "`"+s.key.Value+"`", replaced(start, wrong), diag.UnknownProperty)
}

// wrongType puts a value of another kind in place of a literal.
func (b *breaker) wrongType(s site) {
	switch s.value.(type) {
	case *ast.String, *ast.Number, *ast.Bool, *ast.List, *ast.Map:
	default:
		return
	}
	var wrong, suggests, kind string
	switch t := schema.Required(s.property.Type).(type) {
	case schema.Primitive:
		switch t {
		case schema.Integer, schema.Number:
			kind, wrong, suggests = "text for a number", "many", "`many` is not a number"
		case schema.Bool:
			kind, wrong, suggests = "text for a boolean", "maybe", "write true or false"
		case schema.String:
			kind, wrong, suggests = "list for a text", "[x, y]", "without the list"
		}
	case *schema.Array:
		kind, wrong, suggests = "text for a list", "some", "write a list"
	case *schema.Map, *schema.Object:
		kind, wrong, suggests = "text for a map", "some", "write a map"
	}
	rng := s.value.Range()
	if kind == "" {
		return
	}
	b.add(kind, int(rng.Start), int(rng.End), wrong, suggests, replaced(int(rng.Start), wrong), diag.NotAssignable)
}

// foreignTemplate writes a reference to another resource as other tools do.
func (b *breaker) foreignTemplate(n *check.Node, s site) {
	switch s.value.(type) {
	case *ast.String, *ast.Number, *ast.Bool, *ast.List, *ast.Map:
	default:
		return
	}
	i := slices.IndexFunc(b.program.Nodes, func(o *check.Node) bool {
		return o != n && o.Kind == check.ResourceNode && !strings.ContainsAny(o.Name, " .:")
	})
	start, end := int(s.value.Range().Start), int(s.value.Range().End)
	t := schema.Required(s.property.Type)
	if _, enum := t.(*schema.Enum); i < 0 || enum || t == schema.Any || t == schema.JSON || b.text[end-1] == '\n' {
		return
	}
	if _, union := t.(*schema.Union); union {
		return
	}
	name := b.program.Nodes[i].Name
	for tool, form := range map[string]string{"Helm": "{{ NAME.id }}", "Helm, trimmed": "{{- NAME.id -}}",
		"Ruby": "#{NAME.id}", "Terraform": "%{NAME.id}", "ERB": "<%= NAME.id %>", "Make": "$(NAME.id)",
		"CMake": "@{NAME.id}", "a shell": "$NAME"} {
		text := strings.ReplaceAll(form, "NAME", name)
		quoted := `"` + text + `"`
		code, place := diag.NotAssignable, replaced(start, quoted)
		if t == schema.String {
			code, place = diag.BadInterpolation, replaced(start+1, text)
		}
		b.add("a template of "+tool, start, end, quoted, "`${"+name, place, code)
	}
	if t != schema.String {
		b.add("a template without quotes", start, end, "{{ "+name+" }}", "a reference is written",
			replaced(start+1, "{ "+name+" }"), diag.KeyNotString)
	}
}

// breakSections adds sections of a wrong kind.
func (b *breaker) breakSections() {
	for kind, sections := range map[string][]string{
		"map":  {"config", "variables", "outputs", "components", "hooks", "dynamic", "policies", "pulumi"},
		"list": {"messages", "transforms"}, "string": {"name", "description"}} {
		for _, section := range sections {
			if strings.HasPrefix(b.text, section+":") || strings.Contains(b.text, "\n"+section+":") ||
				!strings.HasSuffix(b.text, "\n") {
				continue
			}
			for written, wrong := range map[string]string{"string": "\"{{ x }}\"", "number": "5", "boolean": "true",
				"list": "[a]", "map": "{a: b}"} {
				if written == kind || kind == "string" && written != "list" && written != "map" {
					continue
				}
				start := len(b.text) + len(section) + len(": ")
				b.put(mistake{kind: section + " as a " + written, text: b.text + section + ": " + wrong + "\n",
					codes: []diag.Code{diag.WrongKind}, places: replaced(start, wrong), suggests: "must be"})
			}
		}
	}
}

func (b *breaker) wrongEnum(s site) {
	text, ok := s.value.(*ast.String)
	if !ok || len(text.Value) < 4 || text.Range().Text() != text.Value {
		return
	}
	members := []schema.Type{schema.Required(s.property.Type)}
	wrong := misspell(text.Value)
	if u, isUnion := members[0].(*schema.Union); isUnion { // it may have other values, in other letters
		if members, wrong = u.Members, strings.ToUpper(text.Value); wrong == text.Value {
			return
		}
	}
	for _, m := range members {
		if enum, isEnum := schema.Required(m).(*schema.Enum); isEnum && slices.ContainsFunc(enum.Values,
			func(v schema.EnumValue) bool { return v.Value == text.Value }) {
			rng := text.Range()
			b.add("wrong enum", int(rng.Start), int(rng.End), wrong, "`"+text.Value+"`", replaced(int(rng.Start), wrong),
				diag.NotInEnum)
		}
	}
}

// lineStart returns the start of the line that contains an offset.
func (b *breaker) lineStart(offset int) int { return strings.LastIndexByte(b.text[:offset], '\n') + 1 }

// lineEnd returns the end of the line that contains an offset, including the line break.
func (b *breaker) lineEnd(offset int) int {
	if i := strings.IndexByte(b.text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(b.text)
}

// alone reports whether nothing else is on the lines of an entry.
func (b *breaker) alone(s site) bool {
	start, end := int(s.key.Range.Start), int(s.value.Range().End)
	return strings.TrimSpace(b.text[b.lineStart(start):start]) == "" &&
		strings.TrimSpace(b.text[end:b.lineEnd(end)]) == "" &&
		b.text[end-1] != '\n'
}

func (b *breaker) oneLine(s site) bool {
	return b.alone(s) && !strings.Contains(b.text[s.key.Range.Start:s.value.Range().End], "\n")
}

func (b *breaker) duplicateProperty(s site) {
	if !b.oneLine(s) {
		return
	}
	start, end := b.lineStart(int(s.key.Range.Start)), b.lineEnd(int(s.value.Range().End))
	line := b.text[start:end]
	if !strings.HasSuffix(line, "\n") {
		return
	}
	second := end + int(s.key.Range.Start) - start
	b.add("duplicate property", end, end, line, "is declared twice (first at line",
		[][2]int{{second, second + len(s.key.Range.Text())}}, diag.Duplicate)
}

func (b *breaker) missingRequired(n *check.Node, s site, _ []site) {
	p := s.property
	if !p.Required || p.Const != nil || p.Default != nil || len(p.DefaultEnv) > 0 || !b.alone(s) {
		return
	}
	if _, scalar := s.value.(*ast.String); !scalar {
		return
	}
	start, end := b.lineStart(int(s.key.Range.Start)), b.lineEnd(int(s.value.Range().End))
	places := shifted(n.Range, start, end-start, 0)
	b.add("missing required", start, end, "", p.Name, places, diag.RequiredMissing)
}

// shifted returns a range after an edit that replaces removed bytes at an offset by added bytes.
func shifted(r diag.Range, offset, removed, added int) [][2]int {
	start, end := int(r.Start), int(r.End)
	if start >= offset {
		start, end = start-removed+added, end-removed+added
	}
	return [][2]int{{start, end}}
}

// afterType returns the offset behind the line of a resource's type, and its indentation; ok is false for a resource in
// flow style.
func (b *breaker) afterType(n *check.Node) (offset int, indent string, ok bool) {
	rng := n.Resource.Decl.Type.Range
	start := b.lineStart(int(rng.Start))
	line := b.text[start:rng.Start]
	indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
	return b.lineEnd(int(rng.End)), indent, strings.TrimSpace(line) == "type:"
}

// wrongLevel moves a property one level up, to the fields of the resource, and an option down to the properties.
func (b *breaker) wrongLevel(n *check.Node, s site) {
	offset, indent, ok := b.afterType(n)
	if !ok || !b.oneLine(s) || int(s.key.Range.Start) < offset {
		return
	}
	start, end := b.lineStart(int(s.key.Range.Start)), b.lineEnd(int(s.value.Range().End))
	switch strings.ToLower(s.key.Value) {
	case "name", "type", "properties", "options", "get", "id", "state", "version", "provider", "parent", "providers",
		"condition", "metadata", "if", "foreach", "defaultprovider", "aliases", "hooks":
	default:
		line := indent + strings.TrimLeft(b.text[start:end], " ")
		b.put(mistake{kind: "property above", codes: []diag.Code{diag.UnknownKey}, suggests: "under `properties`",
			places: replaced(offset+len(indent), s.key.Range.Text()), text: b.text[:offset] + line + b.text[offset:start] +
				b.text[end:]})
	}
	if n.Resource.Schema.Inputs.Property("protect") == nil {
		line := b.text[start:s.key.Range.Start] + "protect: true\n"
		b.add("option below", start, start, line, "`options`", replaced(int(s.key.Range.Start), "protect"),
			diag.UnknownProperty)
	}
}

func (b *breaker) wrongTokens(n *check.Node) {
	token := n.Resource.Decl.Type
	if token.Range.Text() != token.Value {
		return
	}
	i := strings.LastIndexByte(token.Value, ':') + 1
	wrong := token.Value[:i] + misspell(token.Value[i:])
	b.add("unknown type", int(token.Range.Start), int(token.Range.End), wrong, "`"+schema.CollapseToken(n.Resource.Token)+
		"`", replaced(int(token.Range.Start), wrong), diag.TokenNotFound)
	pkg, rest, _ := strings.Cut(token.Value, ":")
	wrong = misspell(pkg) + ":" + rest
	b.add("unknown package", int(token.Range.Start), int(token.Range.End), wrong, "plugin install resource "+misspell(pkg),
		replaced(int(token.Range.Start), wrong), diag.PackageMissing)
	wrong = strings.ReplaceAll(token.Value, ":", "/")
	b.add("no type at all", int(token.Range.Start), int(token.Range.End), wrong, "its parts are separated by colons",
		replaced(int(token.Range.Start), wrong), diag.BadTypeToken)
}

func (b *breaker) wrongOptions(n *check.Node) {
	offset, indent, ok := b.afterType(n)
	if !ok || !n.Resource.Decl.Options.Range.IsZero() {
		return
	}
	option := func(kind, before, wrong, after, suggests string, code diag.Code) {
		line := indent + "options: {" + before + wrong + after + "}\n"
		b.add(kind, offset, offset, line, suggests, replaced(offset+len(indent)+len("options: {"+before), wrong), code)
	}
	option("misspelt option", "", "protct", ": true", "`protect`", diag.UnknownKey)
	option("option of wrong kind", "protect: ", "5", "", "write `true` or `false`", diag.WrongKind)
	option("timeout without unit", "customTimeouts: {create: ", "5 minutes", "}", "such as 40s", diag.Malformed)
	option("version not a version", "version: ", "latest", "", "looks like 1.2.3", diag.Malformed)
	if inputs := n.Resource.Schema.Inputs.Properties(); len(inputs) > 0 && len(inputs[0].Name) > 3 {
		option("misspelt ignoreChanges", "ignoreChanges: [", misspell(inputs[0].Name), "]", "`"+inputs[0].Name+"`",
			diag.UnknownProperty)
	}
	for _, other := range b.program.Nodes {
		if other != n && other.Kind == check.ResourceNode && len(other.Needs) == 0 {
			option("name for a resource", "dependsOn: [", other.Name, "]", "`${"+other.Name+"}`", diag.NeedsResource)
			return
		}
	}
}

// cycle makes a resource depend on one that needs it.
func (b *breaker) cycle(n *check.Node) {
	for _, edge := range n.Needs {
		dst := edge.To
		if dst.Kind != check.ResourceNode || dst.Resource == nil || !dst.Resource.Decl.Options.Range.IsZero() {
			continue
		}
		offset, indent, ok := b.afterType(dst)
		if !ok {
			continue
		}
		before := indent + "options: {dependsOn: ['${"
		line := before + n.Name + "}']}\n"
		places := replaced(offset+len(before), n.Name)
		for _, e := range n.Needs {
			if e.To == dst {
				places = append(places, shifted(e.Range, offset, 0, len(line))...)
			}
		}
		b.add("cycle", offset, offset, line, " → ", places, diag.Cycle)
		return
	}
}

func (b *breaker) duplicateResource(n *check.Node) {
	r := n.Resource.Decl
	start := b.lineStart(int(r.Name.Range.Start))
	end := b.lineEnd(max(int(r.Range.End)-1, start))
	if strings.TrimSpace(b.text[start:r.Name.Range.Start]) != "" || !strings.HasSuffix(b.text[:end], "\n") {
		return
	}
	second := end + int(r.Name.Range.Start) - start
	b.add("duplicate resource", end, end, b.text[start:end], "is declared twice (first at line",
		[][2]int{{second, second + len(r.Name.Range.Text())}}, diag.Duplicate)
}

// breakExprs makes mistakes in references and calls.
func (b *breaker) breakExprs(n *check.Node) {
	visit := func(e ast.Expr) {
		ast.Walk(e, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Access:
				b.breakAccess(e)
			case *ast.Call:
				b.breakCall(e)
			}
			return true
		})
	}
	switch n.Kind {
	case check.ResourceNode:
		n.Resource.Decl.Exprs(visit)
	case check.VariableNode:
		visit(n.Variable.Value)
	}
}

func (b *breaker) breakAccess(e *ast.Access) {
	ref := b.program.Ref(e)
	if ref.Kind != check.RefNode || e.Root.Range.Text() != e.Root.Value {
		return
	}
	start, end := int(e.Root.Range.Start), int(e.Root.Range.End)
	if wrong := misspell(e.Root.Value); len(e.Root.Value) > 2 {
		b.add("unknown name", start, end, wrong, "`"+e.Root.Value+"`", replaced(start, wrong), diag.Undeclared)
	}
	b.put(mistake{kind: "reference never closed", text: b.text[:e.Range().End-1] + b.text[e.Range().End:], suggests: "`${",
		codes: []diag.Code{diag.BadInterpolation}, places: [][2]int{{int(e.Range().Start), int(e.Range().End)}},
		wholeLine: true})
	if ref.Node.Kind == check.ResourceNode && ref.Node.Resource.Decl.ForEach == nil && len(e.Steps) > 0 {
		b.add("index of a resource", end, end, "[0]", "without the index", replaced(end, "[0]"), diag.NotIndexable)
	}
	if len(e.Steps) == 0 {
		return
	}
	s := e.Steps[0]
	if wrong := misspell(s.Name); !s.IsIndex && !s.Quoted && len(s.Name) > 3 && ref.Node.Kind == check.ResourceNode &&
		ref.Node.Resource.Schema.Outputs.Property(s.Name) != nil && ref.Node.Resource.Schema.Outputs.Property(wrong) == nil {
		b.add("unknown member", int(s.Range.Start), int(s.Range.End), "."+wrong, "`"+s.Name+"`",
			replaced(int(s.Range.Start), "."+wrong), diag.NoMember)
	}
	if last := e.Steps[len(e.Steps)-1]; schema.Required(b.program.TypeOf(e)) == schema.String {
		i := int(last.Range.End)
		b.add("index of a text", i, i, "[0]", "substr(", replaced(i, "[0]"), diag.NotIndexable)
		b.add("member of a text", i, i, ".name", "alone", replaced(i, ".name"), diag.NotIndexable)
	}
}

func (b *breaker) breakCall(e *ast.Call) {
	if e.Argument == nil || e.Name.Range.Text() != e.Name.Value {
		return
	}
	start, end := int(e.Name.Range.Start), int(e.Name.Range.End)
	if wrong := misspell(e.Name.Value); len(e.Name.Value) > 3 && !strings.Contains(e.Name.Value, ":") {
		b.add("unknown function", start, end, wrong, "`"+e.Name.Value+"`", replaced(start, wrong), diag.UnknownFunction)
	}
	call := b.program.Call(e)
	if call == nil || call.Invoke == nil || call.Invoke.Schema == nil {
		return
	}
	m, _ := e.Argument.(*ast.Map)
	if m == nil {
		return
	}
	for _, entry := range m.Entries {
		key, _ := entry.Key.(*ast.String)
		if key == nil {
			continue
		}
		if wrong := misspell(key.Value); len(key.Value) > 5 && key.Range().Text() == key.Value {
			b.add("misspelt part of a call", int(key.Range().Start), int(key.Range().End), wrong, "`"+key.Value+"`",
				replaced(int(key.Range().Start), wrong), diag.UnknownKey)
		}
		switch key.Value {
		case "function":
			if token, ok := entry.Value.(*ast.String); ok && token.Range().Text() == token.Value {
				i := strings.LastIndexByte(token.Value, ':') + 1
				wrong := token.Value[:i] + misspell(token.Value[i:])
				b.add("unknown invoke", int(token.Range().Start), int(token.Range().End), wrong,
					"`"+schema.CollapseToken(call.Invoke.Token)+"`", replaced(int(token.Range().Start), wrong), diag.TokenNotFound)
			}
		case "arguments":
			b.breakArguments(entry.Value, call.Invoke.Schema)
		case "return":
			if name, ok := entry.Value.(*ast.String); ok && len(name.Value) > 3 && name.Range().Text() == name.Value {
				wrong := misspell(name.Value)
				b.add("unknown return", int(name.Range().Start), int(name.Range().End), wrong, "`"+name.Value+"`",
					replaced(int(name.Range().Start), wrong), diag.NoMember)
			}
		}
	}
}

func (b *breaker) breakArguments(arguments ast.Expr, f *schema.Function) {
	m, ok := arguments.(*ast.Map)
	if !ok {
		return
	}
	for _, entry := range m.Entries {
		key, _ := entry.Key.(*ast.String)
		if key == nil || key.Range().Text() != key.Value || f.Inputs.Property(key.Value) == nil {
			continue
		}
		if wrong := misspell(key.Value); len(key.Value) > 3 {
			b.add("misspelt argument", int(key.Range().Start), int(key.Range().End), wrong, "`"+key.Value+"`",
				replaced(int(key.Range().Start), wrong), diag.UnknownProperty)
		}
		if rng := entry.Value.Range(); schema.Required(f.Inputs.Property(key.Value).Type) == schema.String {
			b.add("wrong argument", int(rng.Start), int(rng.End), "[x, y]", "without the list", replaced(int(rng.Start), "[x, y]"),
				diag.NotAssignable)
		}
	}
}

// siblings reports whether the entry in a line has others beside it: alone, it may be indented as one likes, and without
// its colon it is a text.
func (b *breaker) siblings(start, end, indent int) bool {
	above := strings.TrimSuffix(b.text[:start], "\n")
	above = above[strings.LastIndexByte(above, '\n')+1:]
	below, _, _ := strings.Cut(b.text[end:], "\n")
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	return depth(below) == indent || depth(above) == indent && strings.TrimSpace(above) != "" && above[indent] != '-'
}

// breakSyntax breaks the YAML.
func (b *breaker) breakSyntax() {
	offset := 0
	for _, line := range strings.SplitAfter(b.text, "\n") {
		start := offset
		offset += len(line)
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		key, value, isEntry := strings.Cut(strings.TrimSuffix(body, "\n"), ": ")
		plain := !strings.ContainsAny(body, "'\"[]{}|>#&*!") && !strings.HasPrefix(body, "-")
		syntax := func(kind, text, suggests string) {
			b.put(mistake{kind: kind, text: b.text[:start] + text + b.text[offset:], codes: []diag.Code{diag.Syntax},
				suggests: suggests, places: [][2]int{{start, start + max(len(text)-1, 0)}}, wholeLine: true})
		}
		switch {
		case !plain || indent == 0:
		case isEntry && value != "" && indent >= 6:
			syntax("quote never closed", line[:indent]+key+": \""+value+"\n", "quote")
			syntax("bracket never closed", line[:indent]+key+": ["+value+"\n", "`]`")
			syntax("tab for spaces", "\t"+line[indent:], "spaces")
			syntax("colon twice", line[:indent]+key+": "+value+": x\n", "quotes")
			syntax("bracket too many", line[:indent]+key+": [x]]\n", "remove")
			syntax("brace never closed", line[:indent]+key+": {"+value+"\n", "`}`")
			syntax("bracket behind a comma", line[:indent]+key+": ["+value+",\n", "`]`")
			syntax("bracket closed by a brace", line[:indent]+key+": ["+value+"}\n", "cannot close")
			if !strings.Contains(b.text[start:], "'") { // which would be the end
				syntax("single quote never closed", line[:indent]+key+": '"+value+"\n", "quote")
			}
			syntax("text behind quotes", line[:indent]+key+": \"a\" "+value+"\n", "quote")
			syntax("two brackets never closed", line[:indent]+key+": [["+value+"\n", "`]`")
			syntax("brace with a key never closed", line[:indent]+key+": {x: "+value+"\n", "`}`")
			if b.siblings(start, offset, indent) {
				syntax("space behind the colon missing", line[:indent]+key+":"+value+"\n", "`:`")
				syntax("equals for the colon", line[:indent]+key+" = "+value+"\n", "`:`")
				above := strings.TrimPrefix(b.text[b.lineStart(start-1):start], line[:indent])
				if above[0] != ' ' && above[0] != '-' && strings.Contains(above, ": ") {
					item := line[:indent] + "- x: 5\n"
					syntax("list item in a map", item+line, "remove the dash")
					syntax("list item of two in a map", item+line[:indent]+"  y: 6\n"+line, "remove the dash")
				}
				syntax("indented by one more", " "+line, "align")
				syntax("indented by one less", line[1:], "align")
			}
		case strings.HasSuffix(body, "properties:\n"):
			syntax("colon missing", line[:len(line)-2]+"\n", "key: value")
		}
	}
}
