package schema

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// schemaOptions are the arguments and flags of schema. token is a folder or file with --json-schema.
type schemaOptions struct {
	token   string
	version string
	json    bool
	schemas operation.SchemaFlags

	jsonSchema bool
	stackFile  bool
	all        bool
}

// NewSchema returns the command schema.
func NewSchema(a *console.Console) *cobra.Command {
	o := &schemaOptions{token: "."}
	cmd := &cobra.Command{
		Use:   "schema TOKEN or PACKAGE, schema --json-schema [DIR or FILE]",
		Short: "Show the inputs and outputs of a resource or function",
		Long: "schema shows the inputs and outputs of a resource type or function such as random:RandomPet, with " +
			"an example, or the members of an object type. For the name of a package it lists its resources " +
			"and functions. It also knows the packages that the project names by path or by parameters, and " +
			"the project's components, as components:Name.\n\nWith --json-schema it writes a JSON Schema of a " +
			"project's program, for editors that support JSON Schema. The schema has the inputs of the types " +
			"in the program, and the names of all other types of its packages and of the built-in ones. With " +
			"--stack-file it describes Pulumi.<stack>.yaml. Like check, it starts nothing from the project.",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.jsonSchema:
				return cobra.MaximumNArgs(1)(cmd, args)
			// Cobra has no rule for a flag that needs another one.
			case o.all || o.stackFile:
				return errors.New("--all and --stack-file go with --json-schema")
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: console.RunWith(a, show, o, &o.token),
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().StringVar(&o.version, "version", "", "the version of the provider; any by default")
	cmd.Flags().BoolVar(&o.jsonSchema, "json-schema", false, "write a JSON Schema of the project's program, for editors")
	cmd.Flags().BoolVar(&o.all, "all", false, "with --json-schema, write the inputs of all types of the packages")
	cmd.Flags().BoolVar(&o.stackFile, "stack-file", false, "with --json-schema, write the schema of Pulumi.<stack>.yaml")
	cmd.MarkFlagsMutuallyExclusive("json-schema", "json")
	cmd.MarkFlagsMutuallyExclusive("json-schema", "version")
	cmd.MarkFlagsMutuallyExclusive("all", "stack-file")
	o.schemas.Register(cmd)
	cmd.AddCommand(newSchemaCheck(a))
	return cmd
}

// The JSON forms of packages and their members, which are contracts with other programs.
type (
	packageRecord struct {
		Name      string   `json:"name"`
		Version   string   `json:"version,omitempty"`
		Resources []string `json:"resources"`
		Functions []string `json:"functions"`
	}
	// MemberRecord is the JSON form of a member of a package.
	MemberRecord struct {
		Kind        string           `json:"kind"` // resource, function, object or enum
		Token       string           `json:"token"`
		Component   bool             `json:"component,omitempty"`
		Description string           `json:"description,omitempty"`
		Deprecation string           `json:"deprecation,omitempty"`
		Inputs      []propertyRecord `json:"inputs,omitempty"`
		Outputs     []propertyRecord `json:"outputs,omitempty"`
		Result      string           `json:"result,omitempty"` // type of the single value that a function returns
		Values      []valueRecord    `json:"values,omitempty"`
		Example     string           `json:"example,omitempty"` // YAML
	}
	propertyRecord struct {
		Name        string   `json:"name"`
		Type        string   `json:"type"`
		Ref         string   `json:"ref,omitempty"` // token of the object or enum in the type
		Required    bool     `json:"required,omitempty"`
		Secret      bool     `json:"secret,omitempty"`
		Plain       bool     `json:"plain,omitempty"`
		Replaces    bool     `json:"replaces,omitempty"` // whether a change replaces the resource
		Const       any      `json:"const,omitempty"`
		Default     any      `json:"default,omitempty"`
		DefaultEnv  []string `json:"defaultEnvironment,omitempty"`
		Description string   `json:"description,omitempty"`
		Deprecation string   `json:"deprecation,omitempty"`
	}
	valueRecord struct {
		Value       any    `json:"value"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		Deprecation string `json:"deprecation,omitempty"`
	}
)

// show shows a member of a package, or lists a package.
func show(ctx context.Context, a *console.Console, o *schemaOptions) error {
	given, err := operation.ReadGivenSchemas(a, o.schemas)
	if err != nil {
		return err
	}
	if o.jsonSchema {
		return writeJSONSchema(ctx, a, o, given)
	}
	// The project decides which packages there are, and their versions.
	ws, err := surroundings(a)
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	providers.Given = given
	name, _, isToken := strings.Cut(o.token, ":")
	// The provider of a package is described by the schema of that package.
	if rest, ok := strings.CutPrefix(o.token, "pulumi:providers:"); ok {
		name = rest
	}
	// The project's own packages come first, as in its program.
	if own := ownPackageOf(ctx, ws, providers, name); own != nil {
		if !isToken {
			return writePackage(a, packageRecord{Name: own.name, Resources: collapsed(own.tokens()),
				Functions: []string{}},
				o.json)
		}
		return o.member(a, own.describe)
	}
	wanted, err := providers.Described(ctx, ws, name, o.version)
	if err != nil {
		return err
	}
	pkg, err := ws.Schemas(providers.Schemas()).Load(ctx, wanted)
	if errors.Is(err, schema.ErrNotFound) {
		return fmt.Errorf(
			"no provider for package %s is built in or installed; install it with `yamlhost plugin install resource %s`, "+
				"or name its schema with --schema FILE", name, name)
	}
	if err != nil {
		return err
	}
	// Extensions that the project names add members to the package.
	pkg = providers.Extended(ctx, ws, pkg)
	if !isToken {
		return writePackage(a, packageRecord{Name: pkg.Name, Version: pkg.Version,
			Resources: collapsed(pkg.ResourceTokens()), Functions: collapsed(pkg.FunctionTokens())}, o.json)
	}
	return o.member(a, func(token string) (*MemberRecord, error) { return Describe(pkg, token) })
}

// member shows the member of a package that describe returns.
func (o *schemaOptions) member(a *console.Console, describe func(token string) (*MemberRecord, error)) error {
	record, err := describe(o.token)
	switch {
	case err != nil:
		return err
	case o.json:
		return a.WriteJSON(record)
	}
	return WriteMember(a.Streams.Out, record)
}

// surroundings returns the workspace of the working directory, or an empty one outside of a project. The messages of a
// compiler are dropped: nobody asked to compile anything.
func surroundings(a *console.Console) (*workspace.Workspace, error) {
	ws, err := workspace.Open(a.World.Dir, a.Trusting(func(diag.Severity, string) {}))
	if errors.Is(err, project.ErrNotFound) {
		return workspace.Empty(a.World.Dir), nil
	}
	return ws, err
}

// writePackage writes the list of a package's members.
func writePackage(a *console.Console, record packageRecord, asJSON bool) error {
	if asJSON {
		return a.WriteJSON(record)
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(record.Name + " " + record.Version))
	for _, section := range []struct {
		title  string
		tokens []string
	}{{"Resources", record.Resources}, {"Functions", record.Functions}} {
		if len(section.tokens) > 0 {
			fmt.Fprintf(&b, "\n\n%s\n  %s", section.title, strings.Join(section.tokens, "\n  "))
		}
	}
	_, err := io.WriteString(a.Streams.Out, b.String()+"\n")
	return err
}

// ending returns at most five tokens whose names have the name of token as their ending: random:RandomPet for
// random:Pet. It is for people who know the provider's name of a thing, but not the prefix that the package gives it.
func ending(tokens []string, token string) []string {
	end := strings.ToLower(token[strings.LastIndexByte(token, ':')+1:])
	found := slices.DeleteFunc(slices.Clone(tokens),
		func(t string) bool { return !strings.HasSuffix(strings.ToLower(t), end) })
	slices.Sort(found)
	return found[:min(5, len(found))]
}

// collapsed returns tokens in their short form, sorted.
func collapsed(tokens []string) []string {
	short := make([]string, len(tokens))
	for i, t := range tokens {
		short[i] = schema.CollapseToken(t)
	}
	slices.Sort(short)
	return short
}

// Describe returns the description of a resource, a function or a type, looked for in this order. An error other than a
// missing token is a fault of the schema, and ends the search.
func Describe(pkg *schema.Package, token string) (*MemberRecord, error) {
	r, err := pkg.ResolveResource(token)
	if err == nil {
		return resourceRecord(r), nil
	}
	if !errors.Is(err, schema.ErrNoSuchToken) {
		return nil, err
	}
	f, err := pkg.ResolveFunction(token)
	if err == nil {
		record := &MemberRecord{Kind: "function", Token: f.Token, Description: f.Description, Deprecation: f.Deprecation,
			Inputs: propertyRecords(f.Inputs), Example: functionExample(f)}
		if o, ok := f.Result.(*schema.Object); ok && !f.Scalar {
			record.Outputs = propertyRecords(o)
		} else if f.Result != nil {
			record.Result = schema.TypeName(f.Result)
		}
		return record, nil
	}
	if !errors.Is(err, schema.ErrNoSuchToken) {
		return nil, err
	}
	// Types of objects have no resolver, since programs do not name them.
	for _, known := range pkg.TypeTokens() {
		if strings.EqualFold(known, token) || strings.EqualFold(schema.CollapseToken(known), token) {
			return describeType(pkg, known)
		}
	}
	text := fmt.Sprintf("package %s has no resource, function or type %s", pkg.Name, token)
	candidates := slices.Concat(collapsed(pkg.ResourceTokens()), collapsed(pkg.FunctionTokens()))
	near := diag.Suggest(token, candidates)
	if len(near) == 0 {
		// A token whose module is missing or wrong differs in too many letters.
		near = ending(candidates, token)
	}
	if len(near) > 0 {
		text += "; near are " + strings.Join(near, ", ")
	}
	return nil, errors.New(text)
}

// resourceRecord describes a resource or a component.
func resourceRecord(r *schema.Resource) *MemberRecord {
	return &MemberRecord{Kind: "resource", Token: r.Token, Component: r.Component, Description: r.Description,
		Deprecation: r.Deprecation,
		Inputs:      propertyRecords(r.Inputs), Outputs: propertyRecords(r.Outputs), Example: resourceExample(r)}
}

// describeType returns the description of an object type or an enum.
func describeType(pkg *schema.Package, token string) (*MemberRecord, error) {
	t, err := pkg.Type(token)
	if err != nil {
		return nil, err
	}
	record := &MemberRecord{Kind: "object", Token: token}
	switch t := t.(type) {
	case *schema.Object:
		record.Inputs = propertyRecords(t)
	case *schema.Enum:
		record.Kind = "enum"
		for _, v := range t.Values {
			record.Values = append(record.Values, valueRecord{v.Value, v.Name, v.Description, v.Deprecation})
		}
	default:
		record.Kind, record.Result = "type", schema.TypeName(t)
	}
	return record, nil
}

// propertyRecords describes the properties of an object, required ones first.
func propertyRecords(o *schema.Object) []propertyRecord {
	var records []propertyRecord
	for _, p := range o.Properties() {
		records = append(records, propertyRecord{Name: p.Name, Type: schema.TypeName(schema.Required(p.Type)),
			Ref:      referred(p.Type),
			Required: p.Required, Secret: p.Secret, Plain: p.Plain, Replaces: p.ReplaceOn, Const: p.Const,
			Default: p.Default, DefaultEnv: p.DefaultEnv, Description: p.Description, Deprecation: p.Deprecation})
	}
	// Within each half the order is the schema's.
	// Cloned, because DeleteFunc moves elements of the slice that the next line still reads.
	optional := slices.DeleteFunc(slices.Clone(records), func(p propertyRecord) bool { return p.Required })
	return append(slices.DeleteFunc(records, func(p propertyRecord) bool { return !p.Required }), optional...)
}

// referred returns the token of the object or enum inside of a type, or "".
func referred(t schema.Type) string {
	switch t := schema.Required(t).(type) {
	case *schema.Array:
		return referred(t.Item)
	case *schema.Map:
		return referred(t.Item)
	case *schema.Object:
		return t.Token
	case *schema.Enum:
		return t.Token
	case *schema.Union:
		// The first one is enough for a hint.
		for _, member := range t.Members {
			if token := referred(member); token != "" {
				return token
			}
		}
	}
	return ""
}

// resourceExample returns a YAML example of a resource with its required properties, or a few properties if none is
// required; "" for what a program cannot create: a list of Kubernetes, and what exists in other languages only.
func resourceExample(r *schema.Resource) string {
	token := schema.CollapseToken(r.Token)
	// Lists of Kubernetes are types of its API that the provider refuses to create.
	items := r.Inputs.Property("items")
	list := items != nil && items.Required && strings.HasPrefix(token, "kubernetes:") && strings.HasSuffix(token, "List")
	if r.Overlay || list {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "resources:\n  %s:\n    type: %s\n", schema.ExampleName(token), token)
	writeExampleMembers(&b, "    properties", r.Inputs, "      ")
	return b.String()
}

// functionExample returns a YAML example of a call of a function; "" for a method, and for what exists in other
// languages only.
func functionExample(f *schema.Function) string {
	if f.Overlay || f.Inputs.Property("__self__") != nil {
		return "" // methods are called on a resource
	}
	token := schema.CollapseToken(f.Token)
	var b strings.Builder
	fmt.Fprintf(&b, "variables:\n  %s:\n    fn::invoke:\n      function: %s\n",
		schema.ExampleName(strings.Replace(token, ":get", ":", 1)), token)
	writeExampleMembers(&b, "      arguments", f.Inputs, "        ")
	return b.String()
}

// writeExampleMembers writes all required properties under key, and optional ones up to three in all. It writes no key
// without any.
func writeExampleMembers(b *strings.Builder, key string, o *schema.Object, indent string) {
	const some = 3
	var shown []*schema.Property
	for _, p := range o.Properties() {
		// The provider fills in a constant by itself.
		if p.Required && p.Const == nil {
			shown = append(shown, p)
		}
	}
	for _, p := range o.Properties() {
		_, another := schema.Required(p.Type).(*schema.ResourceType) // which an example would have to declare
		if len(shown) < some && !p.Required && p.Deprecation == "" && !another {
			shown = append(shown, p)
		}
	}
	if len(shown) == 0 {
		return
	}
	b.WriteString(key + ":\n")
	for _, p := range shown {
		fmt.Fprintf(b, "%s%s: %s\n", indent, p.Name, schema.Example(p))
	}
}

// WriteMember writes a member of a package as text for people.
func WriteMember(w io.Writer, m *MemberRecord) error {
	var b strings.Builder
	kind := m.Kind
	if m.Component {
		kind = "component"
	}
	fmt.Fprintf(&b, "%s (%s)\n", schema.CollapseToken(m.Token), kind)
	if m.Deprecation != "" {
		fmt.Fprintf(&b, "\nDeprecated: %s\n", schema.FirstParagraph(m.Deprecation))
	}
	if text := schema.FirstParagraph(m.Description); text != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(text, ""))
	}
	title := "Inputs"
	// An object type is used on both sides, so its properties are neither inputs nor outputs.
	if m.Kind == "object" {
		title = "Members"
	}
	writeProperties(&b, title, m.Inputs)
	writeProperties(&b, "Outputs", m.Outputs)
	if m.Result != "" {
		fmt.Fprintf(&b, "\nResult\n  %s\n", m.Result)
	}
	if len(m.Values) > 0 {
		b.WriteString("\nValues\n")
		for _, v := range m.Values {
			fmt.Fprintf(&b, "  %s\n", schema.ScalarText(v.Value))
			if text := schema.FirstParagraph(v.Description); text != "" {
				b.WriteString(wrap(text, "      ") + "\n")
			}
		}
	}
	if m.Example != "" {
		fmt.Fprintf(&b, "\nExample\n  %s\n", strings.ReplaceAll(strings.TrimRight(m.Example, "\n"), "\n", "\n  "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeProperties writes a section of properties with what holds for each; nothing without properties.
func writeProperties(b *strings.Builder, title string, properties []propertyRecord) {
	if len(properties) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, p := range properties {
		line := p.Name + "  " + p.Type
		if p.Ref != "" {
			line += " " + schema.CollapseToken(p.Ref)
		}
		notes := []string{}
		for _, n := range []struct {
			applies bool
			text    string
		}{{p.Required && title != "Outputs", "required"}, {p.Secret, "secret"}, {p.Plain, "plain"}, {p.Replaces, "replaces"},
			{p.Const != nil, "always " + schema.ScalarText(p.Const)},
			{p.Default != nil, "default " + schema.ScalarText(p.Default)},
			{len(p.DefaultEnv) > 0, "from " + strings.Join(p.DefaultEnv, ", ")}, {p.Deprecation != "", "deprecated"}} {
			if n.applies {
				notes = append(notes, n.text)
			}
		}
		if len(notes) > 0 {
			line += "  (" + strings.Join(notes, "; ") + ")"
		}
		b.WriteString("  " + line + "\n")
		if text := schema.FirstParagraph(p.Description); text != "" {
			b.WriteString(wrap(text, "      ") + "\n")
		}
	}
}

// wrap wraps a text into lines that begin with indent.
func wrap(text, indent string) string {
	const width = 100
	text = strings.Join(strings.Fields(text), " ")
	return diag.Fold(indent+text, width, 0, len(indent), nil)
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[packageRecord]("package", "what a package has", "`schema PACKAGE --json`"),
	contract.Of[MemberRecord]("type", "a resource type, a function, an object or an enum", "`schema TOKEN --json`"),
}
