package project

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// A template in Pulumi's own form: defaults may be numbers and booleans, keys may have namespaces.
func TestReadTemplate(t *testing.T) {
	t.Parallel()
	text := "name: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\ntemplate:\n  description: A web server\n  " +
		"quickstart: Look.\n" +
		"  important: true\n  config:\n    aws:region: {description: Where, default: eu}\n    count: {default: 2}\n    " +
		"key: {secret: true}\n"
	got, found := ReadTemplate(diag.NewSource("Pulumi.yaml", []byte(text)))
	require.Empty(t, found)
	require.Equal(t, &Template{Description: "A web server", Quickstart: "Look.", Config: []TemplateValue{
		{Key: "aws:region", Description: "Where", Default: "eu"}, {Key: "count", Default: "2"}, {Key: "key", Secret: true},
	}}, got)

	got, found = ReadTemplate(diag.NewSource("Pulumi.yaml", []byte("name: a\ndescription: Own words\n")))
	require.Empty(t, found)
	require.Equal(t, &Template{Description: "Own words"}, got)

	_, found = ReadTemplate(diag.NewSource("Pulumi.yaml", []byte("template:\n  config:\n    a: {default: [1]}\n")))
	require.True(t, found.HasErrors())
}

// The new project file has its own name and description and no section template; all other lines are unchanged.
func TestFromTemplate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, description, want string }{
		"placeholders": {
			"# Top.\nname: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\n\n# About the template.\ntemplate:\n  " +
				"config:\n    a: {}\n\n# What there is.\noutputs:\n  it: ${PROJECT} # stays\n",
			"Words",
			"# Top.\nname: site\ndescription: Words\nruntime: yaml\n\n# What there is.\noutputs:\n  it: site # stays\n"},
		"texts that YAML reads otherwise": {"runtime: yaml\nname: x\n", "yes: #1",
			"runtime: yaml\nname: site\ndescription: 'yes: #1'\n"},
		"no description": {"name: x\ndescription: |\n  two\n  lines\nruntime: yaml\n", "",
			"name: site\nruntime: yaml\n"},
		"no name": {"runtime: yaml\n", "", "name: site\nruntime: yaml\n"},
		"template last": {"name: x\nruntime: yaml\ntemplate:\n  description: d\n", "",
			"name: site\nruntime: yaml\n"},
		"a byte order mark":        {"\xef\xbb\xbfname: x\nruntime: yaml\n", "", "name: site\nruntime: yaml\n"},
		"no line break at the end": {"name: x\nruntime: yaml", "", "name: site\nruntime: yaml\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromTemplate([]byte(c.text), "site", c.description)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			p, found := Parse(diag.NewSource("Pulumi.yaml", got))
			require.Empty(t, found)
			require.Equal(t, "site", p.Name.Text)
			require.Equal(t, c.description, p.Description)
		})
	}
	_, err := FromTemplate([]byte("{name: x, runtime: yaml}\n"), "site", "")
	require.ErrorContains(t, err, "one key on each line")
}
