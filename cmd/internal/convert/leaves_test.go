package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/convert"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/schema"
)

// sheet is an input that is drawn, in which each leaf and each comment has a text of its own.
type sheet struct {
	*rapid.T
	b        strings.Builder
	count    int
	item     string            // what the leaves belong to
	leaves   map[string]string // items of the leaves
	comments []string
}

func (s *sheet) chance(label string, of int) bool {
	return rapid.IntRange(0, of).Draw(s.T, label) == of
}

func (s *sheet) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(s.T, label) }

// leaf returns a text that is nowhere else.
func (s *sheet) leaf() string {
	s.count++
	leaf := fmt.Sprintf("q%dz", s.count)
	s.leaves[leaf] = s.item
	return leaf
}

func (s *sheet) comment() string {
	s.count++
	comment := fmt.Sprintf("note %dz about '${this}'", s.count)
	s.comments = append(s.comments, comment)
	return "# " + comment
}

// field is an entry of a map; an item of a list has no key.
type field struct {
	key   string
	value func(indent string)
}

// scalar writes a scalar behind its key: a text with a leaf for each %s.
func (s *sheet) scalar(text string) func(string) {
	return func(string) {
		for range strings.Count(text, "%s") {
			text = strings.Replace(text, "%s", s.leaf(), 1)
		}
		s.b.WriteString(" " + text + s.end())
	}
}

// end returns the end of a line.
func (s *sheet) end() string {
	if s.chance("behind", 9) {
		return " " + s.comment() + "\n"
	}
	return "\n"
}

// fields writes the entries of a map or list, with comments above and below them.
func (s *sheet) fields(indent string, fields ...field) {
	for _, f := range fields {
		if s.chance("above", 9) {
			s.b.WriteString(indent + s.comment() + "\n")
		}
		if s.chance("empty line", 19) {
			s.b.WriteString("\n")
		}
		if f.key == "" {
			s.b.WriteString(indent + "-")
		} else {
			s.b.WriteString(indent + f.key + ":")
		}
		f.value(indent + "  ")
	}
	if s.chance("below", 9) {
		s.b.WriteString(indent + s.comment() + "\n")
	}
}

// below writes entries on the lines below a key.
func (s *sheet) below(fields ...field) func(string) {
	return func(indent string) {
		s.b.WriteString(s.end())
		s.fields(indent, fields...)
	}
}

// inline returns a value in brackets.
func (s *sheet) inline(depth int) string {
	switch kind := rapid.IntRange(0, 4).Draw(s.T, "inline"); {
	case kind == 0 && depth > 0:
		return "{" + s.one("key", "Size", "Mode", "Tag") + ": " + s.inline(depth-1) + ", Other: " + s.inline(depth-1) + "}"
	case kind == 1 && depth > 0:
		between := ", "
		if s.chance("lines", 2) {
			between = ",\n          " + s.comment() + "\n          "
		}
		return "[" + s.inline(depth-1) + between + s.inline(depth-1) + "]"
	case kind == 2:
		return "'" + s.leaf() + " # $ is no comment'"
	}
	return s.leaf()
}

// value writes any value.
func (s *sheet) value(depth int, call func(depth int) func(string)) func(string) {
	switch kind := rapid.IntRange(0, 7).Draw(s.T, "value"); {
	case kind == 0 && depth > 0:
		var fields []field
		for _, key := range []string{"Size", "Mode", "ModeOf", "'a b'"} {
			if s.chance("field", 1) {
				fields = append(fields, field{key, s.value(depth-1, call)})
			}
		}
		if s.chance("again", 9) && len(fields) > 0 {
			fields = append(fields, field{fields[0].key, s.value(depth-1, call)})
		}
		if len(fields) > 0 {
			return s.below(fields...)
		}
	case kind == 1 && depth > 0:
		return s.below(field{"", s.value(depth-1, call)}, field{"", s.value(depth-1, call)})
	case kind == 2 && depth > 0 && call != nil:
		return call(depth - 1)
	case kind == 3:
		return func(indent string) {
			s.b.WriteString(" |" + s.end() + indent + s.leaf() + "\n" + indent + "# " + s.leaf() + "\n")
		}
	case kind == 4:
		return func(string) { s.b.WriteString(" " + s.inline(2) + s.end()) }
	case kind == 5:
		return s.scalar(`"%s"`)
	}
	return s.scalar("%s")
}

// require checks that each leaf is in the program, or in a comment of it while the report has a remark, and that no
// comment is lost.
func (s *sheet) require(program *convert.Program) {
	content, err := program.Text()
	require.NoError(s, err)
	root, err := yamlnode.Parse(content)
	require.NoError(s, err, "%s\n---\n%s", s.b.String(), content)
	var scalars func(n *yamlnode.Node) string
	scalars = func(n *yamlnode.Node) string {
		all := strings.ToLower(n.Value) + "\n"
		for _, child := range n.Content {
			all += scalars(child)
		}
		return all
	}
	data, whole := scalars(root), strings.ToLower(string(content))
	remarks, repeated := map[string]string{}, false
	for _, item := range program.Items {
		remarks[item.Name] += strings.ToLower(strings.Join(item.Remarks, "\n"))
		repeated = repeated || item.Kind == "repeated key"
	}
	kept, remarked := 0, 0
	for leaf, item := range s.leaves {
		switch {
		case strings.Contains(data, leaf):
			kept++
		case strings.Contains(whole, leaf) && (remarks[item] != "" || item == "Metadata" || repeated), strings.Contains(remarks[item], leaf):
			remarked++
		default:
			s.Fatalf("%s of %q is neither in the program nor in a remark\n%s\n---\n%s\n%v", leaf, item, s.b.String(), content,
				remarks)
		}
	}
	require.Equal(s, len(s.leaves), kept+remarked)
	for _, comment := range s.comments {
		require.Regexp(s, `#.*`+regexp.QuoteMeta(comment), string(content), "%s", s.b.String())
	}
}

// call writes a function of CloudFormation, known or not, with as many arguments as it has or more.
func (s *sheet) call(depth int) func(string) {
	value := func(key string) field { return field{key, s.value(depth, s.call)} }
	name := s.one("function", "Ref", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::If", "Fn::FindInMap", "Fn::Select", "Fn::Transform",
		"Fn::Odd", "Fn::Base64", "Fn::Split", "Fn::GetAZs", "Fn::Equals", "Fn::Not", "Fn::ToJsonString", "Fn::Cidr")
	argument := s.value(depth, s.call)
	switch name {
	case "Ref":
		argument = s.scalar("%s")
	case "Fn::Sub":
		argument = s.scalar(`"%s ${%s}"`)
		if s.chance("variables", 1) {
			argument = s.below(field{"", s.scalar(`"%s ${Size}"`)}, field{"", s.below(value("Size"), value("Mode"))})
		}
	case "Fn::Transform":
		argument = s.below(value("Name"), value("Parameters"))
	case "Fn::If":
		argument = s.below(field{"", s.scalar("Always")}, value(""), value(""))
	case "Fn::FindInMap":
		argument = s.below(field{"", s.scalar("Zones")}, value(""), value(""), field{"", s.below(value("DefaultValue"))})
	case "Fn::GetAtt", "Fn::Join", "Fn::Select", "Fn::Split", "Fn::Equals", "Fn::Cidr", "Fn::Not":
		fields := []field{value(""), value(""), value("")}
		argument = s.below(fields[:rapid.IntRange(1, 3).Draw(s.T, "arguments")]...)
	}
	return s.below(field{name, argument})
}

// some returns a choice of fields.
func (s *sheet) some(fields ...field) []field {
	var some []field
	for _, f := range fields {
		if s.chance("some", 1) {
			some = append(some, f)
		}
	}
	return some
}

// of writes a map whose leaves belong to an item.
func (s *sheet) of(item string, fields func() []field) field {
	return field{item, func(indent string) {
		s.item = item
		s.below(fields()...)(indent)
	}}
}

func (s *sheet) template(kind string) {
	value := func(key string) field { return field{key, func(indent string) { s.value(3, s.call)(indent) }} }
	plain := func(key string) field { return field{key, func(indent string) { s.value(2, nil)(indent) }} }
	fixed := func(key, text string) field { return field{key, s.scalar(text)} }
	leaf := func(key string) field { return field{key, s.scalar("%s")} }
	sections := s.some(plain("Globals"), plain("Rules"), plain("Metadata"), leaf("Transform"), plain("Odd"), fixed("Description", "odd"))
	for i, f := range sections {
		sections[i].value = func(indent string) {
			s.item = f.key
			f.value(indent)
		}
	}
	parameter := func() []field {
		fields := s.some(plain("AllowedValues"), leaf("AllowedPattern"), plain("Odd"), leaf("Description"), leaf("ConstraintDescription"),
			field{"Default", func(indent string) { s.value(1, nil)(indent) }}, leaf("MinLength"), leaf("MaxValue"))
		return append(fields, fixed("Type", s.one("type", "String", "List<String>", "AWS::EC2::VPC::Id")))
	}
	sections = append(sections, field{"Parameters", s.below(s.of("Par", parameter), s.of("Other", parameter))},
		field{"Mappings", s.below(s.of("Zones", func() []field { return []field{{"eu", s.below(leaf("Size"))}} }))},
		field{"Conditions", s.below(
			s.of("Always", func() []field { return []field{{"Fn::Equals", s.below(value(""), value(""))}} }),
			s.of("Never", func() []field { return []field{{"Fn::Odd", s.below(value(""), value(""))}} }))},
		field{"Resources", s.below(s.of("Res", func() []field {
			fields := s.some(plain("Odd"), plain("Metadata"), plain("CreationPolicy"), leaf("DependsOn"), plain("UpdateReplacePolicy"),
				leaf("Condition"), fixed("DeletionPolicy", "Retain"))
			for i, f := range fields {
				if f.key == "Metadata" {
					fields[i].value = func(indent string) {
						s.item = "Metadata"
						f.value(indent)
						s.item = "Res"
					}
				}
			}
			return append(fields, fixed("Type", kind), field{"Properties", s.below(value("Value"), value("Size"), value("ValuePolicy"))})
		}), s.of(s.one("name", "Left", "SignInAuth", "SessionToken", "DbPassword"), func() []field { // names of no secrets
			kind := fixed("Type", s.one("left", "Custom::Odd", "AWS::Serverless::Function"))
			event := field{"ApiKey", s.below(fixed("Type", "Api"), plain("Properties"))}
			choice := field{"Password", s.below(field{"Fn::If", s.below(field{"", s.scalar("%s")}, field{"", s.scalar("true")},
				field{"", s.scalar("'{{resolve:secretsmanager:%s:SecretString:a}}'")})})}
			properties := s.below(plain("Size"), field{"Auth", s.below(plain("Mode"), event, choice)})
			return append(s.some(field{"Properties", properties}), kind)
		}))},
		field{"Outputs", s.below(s.of("Out", func() []field {
			return append(s.some(plain("Odd"), fixed("Description", "odd"), leaf("Condition"), plain("Export")), value("Value"))
		}))})
	if s.chance("top", 1) {
		s.b.WriteString(s.comment() + "\n\n" + s.comment() + "\n")
	}
	s.fields("", sections...)
}

// No leaf and no comment of a template is lost: each is in the program, or in a comment with a reason while the report
// has a remark about its object.
func TestLeavesOfTemplates(t *testing.T) {
	t.Parallel()
	loader := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return []byte(thingSchema), nil })
	loaded, err := loader.Load(t.Context(), schema.Descriptor{Name: "aws-native"})
	require.NoError(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		s := &sheet{T: rt, leaves: map[string]string{}}
		s.template("AWS::Test::Thing")
		options := convert.Options{Name: "converted"}
		if rapid.Bool().Draw(rt, "schema") {
			options.Schema = func(string) *schema.Package { return loaded }
		}
		program, diags := convert.CloudFormation(diag.NewSource("t.yaml", []byte(s.b.String())), options)
		require.Empty(rt, diags, "%s", s.b.String())
		s.require(program)
	})
}

// No leaf and no comment of a manifest is lost.
func TestLeavesOfManifests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := &sheet{T: rt, leaves: map[string]string{}}
		for i := range rapid.IntRange(1, 4).Draw(rt, "documents") {
			name := fmt.Sprintf("o%d", i)
			s.item = name
			kind := s.one("kind", "v1 ConfigMap", "v1 Service", "apps/v1 Deployment", "example.com/v1 Odd", "v1 Secret",
				"kustomize.config.k8s.io/v1beta1 Kustomization")
			version, kind, _ := strings.Cut(kind, " ")
			fixed := func(key, text string) field { return field{key, s.scalar(text)} }
			value := func(key string) field { return field{key, func(indent string) { s.value(3, nil)(indent) }} }
			object := []field{fixed("apiVersion", version), fixed("kind", kind),
				{"metadata", s.below(fixed("name", name), value("labels"))}}
			if kind == "Secret" { // whose values are left to the configuration, and of which nothing is quoted
				key := s.leaf()
				object = append(object[:2], field{"metadata", s.below(fixed("name", name))}, field{"stringData", s.below(fixed(key, "hush"))})
			} else {
				object = append(object, s.some(value("spec"), value("data"), value("status"))...)
			}
			if s.chance("list", 3) {
				object = []field{fixed("apiVersion", "v1"), fixed("kind", "List"), {"items", s.below(field{"", s.below(object...)})}}
				if kind != "Secret" && s.chance("rest", 1) {
					object = append(object, field{"metadata", func(indent string) {
						s.item = ""
						s.value(2, nil)(indent)
						s.item = name
					}})
				}
			}
			if s.chance("separator", 1) || i > 0 {
				s.b.WriteString("---" + s.end())
			}
			if s.chance("no object", 9) {
				s.b.WriteString(s.comment() + "\n---\n")
			}
			s.fields("", object...)
		}
		program, diags := convertText("kubernetes", "objects.yaml", s.b.String())
		require.Empty(rt, diags, "%s", s.b.String())
		content, err := program.Text()
		require.NoError(rt, err)
		require.NotContains(rt, string(content), "hush")
		s.require(program)
	})
}

// No comment of a stranger's file is lost, as far as the YAML library reads them.
func TestCommentsOfRealFiles(t *testing.T) {
	t.Parallel()
	templates := os.Getenv("YAMLHOST_TEMPLATES")
	if templates == "" {
		t.Skip("YAMLHOST_TEMPLATES does not name a folder with files of other tools")
	}
	files, found := 0, 0
	for _, kind := range []string{"kubernetes", "cloudformation"} {
		err := filepath.WalkDir(filepath.Join(templates, kind), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			comments, err := libraryComments(content)
			program, diags := convertText(kind, filepath.Base(path), string(content))
			if err != nil || diags.HasErrors() {
				return nil
			}
			written, err := program.Text()
			require.NoError(t, err)
			files++
			for _, comment := range comments {
				found++
				if !strings.Contains(string(written), comment) && !strings.Contains(string(written), "# [secret]") {
					t.Errorf("%s loses the comment %s", path, comment)
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
	t.Logf("%d comments of %d files are there", found, files)
}

// libraryComments returns the lines of the comments that the YAML library reads.
func libraryComments(content []byte) ([]string, error) {
	var all []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for line := range strings.SplitSeq(n.HeadComment+"\n"+n.LineComment+"\n"+n.FootComment, "\n") {
			if comment := strings.TrimSpace(strings.TrimLeft(line, "#")); comment != "" {
				all = append(all, comment)
			}
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		walk(&doc)
	}
}
