// Package testschema compiles JSON Schemas, and validates JSON texts with them. What is no JSON or no schema fails the
// test at once. Only tests import it.
package testschema

import (
	"bytes"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// Compile compiles a schema, which has to be valid under its own metaschema. edit, if it is not nil, changes the parsed
// schema before.
func Compile(t testfile.T, text []byte, edit func(document any)) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	if edit != nil {
		edit(document)
	}
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", document))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// Validate returns an error if a JSON text does not fit a schema.
func Validate(t testfile.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, "%s", text)
	return s.Validate(document)
}
