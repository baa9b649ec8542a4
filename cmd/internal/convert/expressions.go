package convert

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/schema"
)

// pseudo holds the pseudo parameters that provider functions return. The program calls each in a variable.
// CloudFormation gives these without being asked; the provider has a function for each.
var pseudo = map[string]struct{ variable, function, result string }{
	"AWS::Region":    {"awsRegion", "getRegion", "region"},
	"AWS::AccountId": {"awsAccountId", "getAccountId", "accountId"},
	"AWS::Partition": {"awsPartition", "getPartition", "partition"},
	"AWS::URLSuffix": {"awsUrlSuffix", "getUrlSuffix", "urlSuffix"},
}

// ref returns the expression for Ref. Pseudo parameters come first: they begin with AWS::, which no name of a template
// can. A reference to something that is not there becomes configuration.
func (c *cloudFormation) ref(name string, line int) string {
	if p, found := pseudo[name]; found {
		// The variable is declared on first use, so a program has only those that it needs.
		if yamlnode.Member(c.sections["variables"], p.variable) == nil {
			call := mapping()
			put(call, "function", text("aws-native:index:"+p.function))
			put(call, "return", text(p.result))
			put(c.sections["variables"], p.variable, mappingOf("fn::invoke", call))
		}
		return p.variable
	}
	switch name {
	case "AWS::NoValue":
		return "null"
	case "AWS::StackId", "AWS::StackName":
		if name == "AWS::StackId" {
			// The ARN of a stack has no counterpart, and most uses only need something unique.
			c.say("AWS::StackId is the name of the stack here")
		}
		if len(c.nesting.open) > 1 { // a nested template
			return c.nestedName()
		}
		return "pulumi.stack"
	case "AWS::NotificationARNs":
		c.say("AWS::NotificationARNs is an empty list here")
		return "[]"
	}
	// Parameters, which have their expressions once they have been converted: the order of template sees to that.
	if expr := c.refs[name]; expr != "" {
		return expr
	}
	// A component has no ID, so a nested stack falls through.
	if r := c.res[name]; r != nil && r.name != "" && r.nested == nil {
		return c.accessOf(r, line) + "." + c.identity(r)
	}
	return c.absent(name, "")
}

// owner returns the name of the current resource; "" outside of resources.
func (c *cloudFormation) owner() string {
	if c.current == nil {
		return ""
	}
	return c.current.name
}

// accessOf returns the expression for a resource and records the use. The line is kept for a message about a cycle.
func (c *cloudFormation) accessOf(r *templateResource, line int) string {
	// Outputs and conditions are in no cycle, since nothing refers to them.
	if c.current != nil {
		c.current.uses[r.logical] = line
	}
	if r.conditional {
		// The resource may have no instance; with ? the value is null then.
		return r.name + "?"
	}
	return r.name
}

// identities holds the property that equals Ref, for types with an ID of several parts. They follow from the
// documentation of Ref and of the primary identifiers of each type; a type that is missing here has an ID of one part,
// or is converted as if it had.
var identities = map[string]string{
	"AWS::EC2::EIP": "publicIp", "AWS::ApiGateway::Resource": "resourceId", "AWS::ApiGateway::Stage": "stageName",
	"AWS::ApiGateway::Deployment": "deploymentId", "AWS::ApiGateway::Authorizer": "authorizerId",
	"AWS::ApiGateway::Model": "name", "AWS::ApiGateway::RequestValidator": "requestValidatorId",
	"AWS::Cognito::UserPoolClient": "clientId", "AWS::Cognito::UserPoolGroup": "groupName",
	"AWS::ECS::Service": "serviceArn", "AWS::Logs::LogStream": "logStreamName",
	"AWS::ApiGatewayV2::Integration": "integrationId", "AWS::ApiGatewayV2::Route": "routeId",
	"AWS::ApiGatewayV2::Stage": "stageName", "AWS::ApiGatewayV2::Deployment": "deploymentId",
	"AWS::ApiGatewayV2::Authorizer": "authorizerId", "AWS::EKS::Nodegroup": "id",
}

// identity returns the property that stands for the resource. For most types the ID of the provider is what Ref gives.
func (c *cloudFormation) identity(r *templateResource) string {
	if name := identities[r.kind]; name != "" && (r.decl == nil || r.decl.Outputs.Property(name) != nil) {
		return name
	}
	return "id"
}

// absent returns a configuration value that replaces a resource or attribute the program does not have.
func (c *cloudFormation) absent(name, attribute string) string {
	about := "what Ref gives for " + name
	if attribute != "" {
		about = attribute + " of " + name
	}
	switch r := c.res[name]; {
	case r == nil:
		about += ", which the template does not declare"
	case r.nested != nil:
		about += ", which is a component here"
	default:
		about += ", which was left out (" + r.kind + ")"
	}
	// It is a remark and no error: the program is of use once somebody has set the value.
	c.say("%s: the program takes it from its configuration", about)
	// need gives one name for one key, however often the template refers to it.
	return c.need(strings.Trim(name+"."+attribute, "."), "any", about)
}

// dynamic matches the dynamic references in a text of a program.
var dynamic = lazyregexp.New(`\{\{resolve:([a-z-]+):((?:\$\{[^{}]*\}|[^{}])*)\}\}`)

// resolved replaces the dynamic references in a text of a program, which the provider would send unchanged. Secrets
// become configuration. Plain parameters can be read by a function of the provider, secure ones and secrets cannot.
func (c *cloudFormation) resolved(content string) string {
	var parts []literal.Part
	for {
		at := dynamic().FindStringSubmatchIndex(content)
		if at == nil {
			return literal.Template(append(parts, split(content)...))
		}
		service, of := content[at[2]:at[3]], content[at[4]:at[5]]
		// The name in a reference may have been computed by Fn::Sub, and so it is a text with expressions.
		name := `invoke("aws-native:index:getSsmParameterString", {name = ` + literal.QuotedTemplate(split(of)) + "}).value"
		// ssm-secure and secretsmanager.
		if service != "ssm" {
			name = c.need(of, "string", "what the dynamic reference "+service+" gives for "+of)
			c.seal(name)
			c.say("only CloudFormation resolves {{resolve:%s:…}}: the program takes the secret %s from its configuration",
				service, name)
		}
		// What stands around the reference may have expressions already.
		parts = append(append(parts, split(content[:at[0]])...), literal.Part{Expression: name})
		content = content[at[1]:]
	}
}

// attribute returns the expression for Fn::GetAtt. With a schema, each part of the name is found in it, in whatever
// spelling; without one, the spelling follows from the rule alone.
func (c *cloudFormation) attribute(name, attribute string, line int) string {
	r := c.res[name]
	if r == nil || r.name == "" {
		return c.absent(name, attribute)
	}
	// A component has its outputs by name, and nothing else of a stack.
	if output, is := strings.CutPrefix(attribute, "Outputs."); r.nested != nil {
		if !is || yamlnode.Member(r.nested.sections["outputs"], output) == nil {
			return c.absent(name, attribute)
		}
		return c.accessOf(r, line) + "." + output
	}
	access := c.accessOf(r, line)
	// A stack that CloudFormation deploys has its outputs as a list of pairs.
	if output, is := strings.CutPrefix(attribute, "Outputs."); is && r.kind == "AWS::CloudFormation::Stack" {
		return "select(0, [for o in " + access + ".outputs : o.outputValue if o.outputKey == " + literal.Quoted(output) + "])"
	}
	if r.decl == nil {
		for part := range strings.SplitSeq(attribute, ".") {
			// The provider calls an attribute Id awsId, since id is that of the resource itself.
			if part == "Id" && c.current != r {
				part = "AwsId"
			}
			access += "." + words(part)
		}
		return access
	}
	outputs := r.decl.Outputs
	parts := strings.Split(attribute, ".")
	for i, part := range parts {
		// Each part narrows the type down; without properties it may have any member.
		p := property(outputs, part)
		if p == nil {
			if i == 0 && len(parts) > 1 { // the name contains dots
				if p = property(outputs, strings.Join(parts, "")); p != nil {
					return access + "." + p.Name
				}
			}
			if outputs == nil { // the type has no known members
				// Its members are data, whose names are spelled as they are.
				access += "[" + literal.Quoted(part) + "]"
				continue
			}
			return c.absent(name, attribute)
		}
		access += "." + p.Name
		outputs, _ = schema.Required(p.Type).(*schema.Object)
	}
	return access
}

// property finds a property by its CloudFormation name, or returns nil.
func property(o *schema.Object, name string) *schema.Property {
	if o == nil {
		return nil
	}
	if p := o.Property(words(name)); p != nil {
		return p
	}
	for _, p := range o.Properties() {
		// The schema adds aws to names that are taken in every resource, such as id.
		if strings.EqualFold(p.Name, name) || strings.EqualFold(p.Name, "aws"+name) {
			return p
		}
	}
	return nil
}

// words converts a CloudFormation name to the spelling of aws-native: DBInstanceClass becomes dbInstanceClass. A
// capital begins a word if a small letter comes before or behind it.
func words(name string) string {
	var b strings.Builder
	isUpper := func(r rune) bool { return r >= 'A' && r <= 'Z' }
	runes := []rune(name)
	for i, r := range runes {
		// The first letter begins no word, since names of properties begin with a small one.
		start := i > 0 && (!isUpper(runes[i-1]) || i+1 < len(runes) && runes[i+1] >= 'a' && runes[i+1] <= 'z')
		if isUpper(r) && !start {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// upperFirst converts the first letter of a name to upper case.
func upperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + name[size:]
}

// intrinsic returns the name and the argument of a call such as {Ref: x}; the name is empty for anything else.
func intrinsic(node *yamlnode.Node) (string, *yamlnode.Node) {
	// A map with a second key is data that happens to have such a name.
	if node.Kind != yamlnode.Map || len(node.Content) != 2 {
		return "", nil
	}
	name := node.Content[0].Value
	if name == "Ref" || strings.HasPrefix(name, "Fn::") || name == "Condition" &&
		node.Content[1].Kind == yamlnode.Scalar {
		return name, node.Content[1]
	}
	return "", nil
}

// expr returns a value as an expression. A call with the wrong number of arguments, or of an unknown function, falls
// through to the end, where its value becomes configuration.
func (c *cloudFormation) expr(node *yamlnode.Node) string {
	name, arg := intrinsic(node)
	if name == "" {
		switch node.Kind {
		case yamlnode.Scalar:
			switch node.ShortTag() {
			case yamlnode.IntTag, yamlnode.FloatTag, yamlnode.BoolTag, yamlnode.NullTag:
				return scalar(data(node, false), false).Value
			}
			// A text is escaped first: what it has in ${ } means nothing in a template outside of Fn::Sub.
			return operandText(c.resolved(literal.Text(node.Value)))
		case yamlnode.List:
			return "[" + strings.Join(c.exprs(node), ", ") + "]"
		}
		var items []string
		each(node, func(key, value *yamlnode.Node) { items = append(items, literal.Quoted(key.Value)+" = "+c.expr(value)) })
		return "{" + strings.Join(items, ", ") + "}"
	}
	// A single argument need not be in a list.
	args := arg.Content
	if arg.Kind != yamlnode.List {
		args = []*yamlnode.Node{arg}
	}
	// Functions of several arguments take a list and nothing else.
	count := func(n int) bool { return arg.Kind == yamlnode.List && len(args) == n }
	switch name {
	case "Ref":
		if arg.Kind == yamlnode.Scalar {
			return c.ref(arg.Value, lineOf(c.src, arg))
		}
	case "Condition":
		if cond := c.conds[arg.Value]; cond != "" {
			return cond
		}
	case "Fn::GetAtt":
		if resource, attribute, ok := attributeOf(arg); ok {
			return c.attribute(resource, attribute, lineOf(c.src, arg))
		}
	case "Fn::Sub":
		if parts, ok := c.pieces(arg); ok {
			return literal.QuotedTemplate(split(c.resolved(literal.Template(parts))))
		}
	case "Fn::Join", "Fn::Split":
		if count(2) {
			return strings.ToLower(name[len("Fn::"):]) + "(" + c.expr(args[0]) + ", " + c.expr(args[1]) + ")"
		}
	case "Fn::Select":
		if count(2) {
			return "select(" + index(c.expr(args[0])) + ", " + c.expr(args[1]) + ")"
		}
	case "Fn::FindInMap":
		if (count(3) || count(4)) && args[0].Kind == yamlnode.Scalar && c.maps[args[0].Value] != "" {
			// The name of the mapping has to be a text: a program cannot compute the name of a variable.
			found := c.maps[args[0].Value] + "[" + c.expr(args[1]) + "][" + c.expr(args[2]) + "]"
			if count(3) {
				return found
			}
			// The fourth argument belongs to the transform of language extensions.
			if otherwise := yamlnode.Member(args[3], "DefaultValue"); otherwise != nil && len(args[3].Content) == 2 {
				return "try(" + found + ", " + c.expr(otherwise) + ")"
			}
		}
	case "Fn::GetAZs":
		if len(args) > 1 {
			break
		}
		if len(args) == 0 || args[0].Kind == yamlnode.Scalar && args[0].Value == "" {
			return `invoke("aws-native:index:getAzs", {}).azs`
		}
		return `invoke("aws-native:index:getAzs", {region = ` + c.expr(args[0]) + "}).azs"
	case "Fn::ImportValue":
		return `invoke("aws-native:index:importValue", {name = ` + c.expr(arg) + "}).value"
	case "Fn::Cidr":
		if count(3) {
			return `invoke("aws-native:index:cidr", {ipBlock = ` + c.expr(args[0]) + ", count = " + index(c.expr(args[1])) +
				", cidrBits = " + index(c.expr(args[2])) + "}).subnets"
		}
	case "Fn::Base64":
		return "toBase64(" + c.expr(arg) + ")"
	case "Fn::If":
		if count(3) && c.conds[args[0].Value] != "" {
			return "(" + c.conds[args[0].Value] + " ? " + c.expr(args[1]) + " : " + c.expr(args[2]) + ")"
		}
	case "Fn::Equals":
		if count(2) {
			// Without parentheses: Fn::Not adds its own, and && and || bind weaker.
			return c.operand(args[0]) + " == " + c.operand(args[1])
		}
	case "Fn::Not":
		if len(args) == 1 {
			return "!(" + c.expr(args[0]) + ")"
		}
	case "Fn::And":
		// The parentheses are needed where a condition is an operand of another one.
		return "(" + strings.Join(c.exprs(arg), " && ") + ")"
	case "Fn::Or":
		return "(" + strings.Join(c.exprs(arg), " || ") + ")"
	case "Fn::Length":
		return "length(" + c.expr(arg) + ")"
	case "Fn::ToJsonString":
		return "toJSON(" + c.expr(arg) + ")"
	}
	c.leaveOut(c.owner(), fmt.Sprintf("%s in line %d", name, lineOf(c.src, node)),
		"it has no counterpart: the program takes its value from its configuration", node)
	// The line is part of the configuration's name, as a resource may have several such calls.
	owner := "template"
	if c.current != nil {
		owner = c.current.logical
	}
	return c.need(fmt.Sprintf("%s.%s.Line%d", owner, strings.TrimPrefix(name, "Fn::"), lineOf(c.src, node)), "any",
		fmt.Sprintf("what %s gives in line %d of the template", name, lineOf(c.src, node)))
}

// operand returns one side of a comparison. CloudFormation compares strings, so numbers become strings.
func (c *cloudFormation) operand(node *yamlnode.Node) string {
	if node.Kind == yamlnode.Scalar {
		return literal.Quoted(node.Value)
	}
	text := c.expr(node)
	name, arg := intrinsic(node)
	if name == "Ref" && yamlnode.TextAt(c.sections["config"], c.params[arg.Value], "type") == "number" {
		return "toString(" + text + ")"
	}
	return text
}

// index removes the quotes of a number, which a template may write as a string.
func index(expr string) string {
	if trimmed := strings.Trim(expr, `"`); digits().MatchString(trimmed) {
		return trimmed
	}
	return expr
}

// digits matches a whole number.
var digits = lazyregexp.New(`^[0-9]+$`)

// exprs returns the items of a list as expressions; a value that is no list is one item.
func (c *cloudFormation) exprs(node *yamlnode.Node) []string {
	if node.Kind != yamlnode.List {
		return []string{c.expr(node)}
	}
	texts := make([]string, len(node.Content))
	for i, item := range node.Content {
		texts[i] = c.expr(item)
	}
	return texts
}

// attributeOf splits the argument of Fn::GetAtt.
func attributeOf(arg *yamlnode.Node) (resource, attribute string, ok bool) {
	if arg.Kind == yamlnode.Scalar {
		// Attributes may have dots, logical names cannot.
		return strings.Cut(arg.Value, ".")
	}
	if arg.Kind != yamlnode.List || len(arg.Content) < 2 {
		return "", "", false
	}
	var parts []string
	for _, part := range arg.Content {
		if part.Kind != yamlnode.Scalar {
			return "", "", false
		}
		parts = append(parts, part.Value)
	}
	return parts[0], strings.Join(parts[1:], "."), true
}
