package convert

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/schema"
)

// pseudo are the pseudo parameters as expressions; those of calls become variables.
var pseudo = map[string]struct{ variable, function, result string }{
	"AWS::Region":    {"awsRegion", "getRegion", "region"},
	"AWS::AccountId": {"awsAccountId", "getAccountId", "accountId"},
	"AWS::Partition": {"awsPartition", "getPartition", "partition"},
	"AWS::URLSuffix": {"awsUrlSuffix", "getUrlSuffix", "urlSuffix"},
}

// ref is what Ref gives, as an expression.
func (c *cloudFormation) ref(name string, line int) string {
	if p, found := pseudo[name]; found {
		if !c.helpers[p.variable] {
			c.helpers[p.variable] = true
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
			c.say("AWS::StackId is the name of the stack here")
		}
		if len(c.nesting.open) > 1 { // the template is not the one that was named
			return c.nestedName()
		}
		return "pulumi.stack"
	case "AWS::NotificationARNs":
		return "[]"
	}
	if expr := c.refs[name]; expr != "" {
		return expr
	}
	if r := c.res[name]; r != nil && r.name != "" && r.nested == nil {
		return c.accessOf(r, line) + "." + c.identity(r)
	}
	return c.absent(name, "")
}

// say adds a remark to the current resource, or else to the program.
func (c *cloudFormation) say(format string, args ...any) {
	if c.current != nil {
		c.current.item.remark(format, args...)
	} else if len(c.Items) > 0 {
		c.Items[len(c.Items)-1].remark(format, args...)
	}
}

// owner is the name of the current resource; empty outside of resources.
func (c *cloudFormation) owner() string {
	if c.current == nil {
		return ""
	}
	return c.current.name
}

// accessOf is the resource in an expression, and notes the use.
func (c *cloudFormation) accessOf(r *templateResource, line int) string {
	if c.current != nil {
		c.current.uses[r.logical] = line
	}
	if r.conditional {
		return r.name + "?"
	}
	return r.name
}

// identities are the members that hold what Ref gives, for types whose ID has several parts.
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

func (c *cloudFormation) identity(r *templateResource) string {
	if name := identities[r.kind]; name != "" && (r.decl == nil || r.decl.Outputs.Property(name) != nil) {
		return name
	}
	return "id"
}

// absent is a configuration value in place of a resource, or of its attribute, that the program does not have.
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
	c.say("%s: the program takes it from its configuration", about)
	return c.need(strings.Trim(name+"."+attribute, "."), "any", about)
}

// dynamic matches the dynamic references in a text of a program.
var dynamic = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{resolve:([a-z-]+):((?:\$\{[^{}]*\}|[^{}])*)\}\}`)
})

// resolved puts values in place of the dynamic references in a text of a program: the provider would send them as they
// are. Secrets become configuration.
func (c *cloudFormation) resolved(value string) string {
	return dynamic().ReplaceAllStringFunc(value, func(found string) string {
		parts := dynamic().FindStringSubmatch(found)
		if parts[1] == "ssm" {
			return `${invoke("aws-native:index:getSsmParameterString", {name = ` + literalText(parts[2]) + "}).value}"
		}
		name := c.need(parts[2], "string", "what the dynamic reference "+parts[1]+" gives for "+parts[2])
		c.seal(name)
		c.say("only CloudFormation resolves {{resolve:%s:…}}: the program takes the secret %s from its configuration",
			parts[1], name)
		return "${" + name + "}"
	})
}

// attribute is what Fn::GetAtt gives.
func (c *cloudFormation) attribute(name, attribute string, line int) string {
	r := c.res[name]
	if r == nil || r.name == "" {
		return c.absent(name, attribute)
	}
	if output, is := strings.CutPrefix(attribute, "Outputs."); r.nested != nil {
		if !is || member(r.nested.sections["outputs"], output) == nil {
			return c.absent(name, attribute)
		}
		return c.accessOf(r, line) + "." + output
	}
	access := c.accessOf(r, line)
	if output, is := strings.CutPrefix(attribute, "Outputs."); is && r.kind == "AWS::CloudFormation::Stack" {
		return "select(0, [for o in " + access + ".outputs : o.outputValue if o.outputKey == " + quoted(output) + "])"
	}
	if r.decl == nil {
		for part := range strings.SplitSeq(attribute, ".") {
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
		p := property(outputs, part)
		if p == nil {
			if i == 0 && len(parts) > 1 { // a name with dots
				if p = property(outputs, strings.Join(parts, "")); p != nil {
					return access + "." + p.Name
				}
			}
			if outputs == nil { // inside of a value whose members are not known
				access += "[" + quoted(part) + "]"
				continue
			}
			return c.absent(name, attribute)
		}
		access += "." + p.Name
		outputs, _ = schema.Required(p.Type).(*schema.Object)
	}
	return access
}

// property finds the member of an object that a name of CloudFormation stands for.
func property(o *schema.Object, name string) *schema.Property {
	if o == nil {
		return nil
	}
	if p := o.Property(words(name)); p != nil {
		return p
	}
	for _, p := range o.Properties() {
		if strings.EqualFold(p.Name, name) || strings.EqualFold(p.Name, "aws"+name) {
			return p
		}
	}
	return nil
}

// words is a name of CloudFormation as aws-native spells it: DBInstanceClass is dbInstanceClass.
func words(name string) string {
	var b strings.Builder
	isUpper := func(r rune) bool { return r >= 'A' && r <= 'Z' }
	runes := []rune(name)
	for i, r := range runes {
		start := i > 0 && (!isUpper(runes[i-1]) || i+1 < len(runes) && runes[i+1] >= 'a' && runes[i+1] <= 'z')
		if isUpper(r) && !start {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// upperFirst makes the first letter of a name a capital.
func upperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + name[size:]
}
