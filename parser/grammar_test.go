package parser

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGrammarHasTheKeys compares the keys that this package reads with those of the JSON Schema for editors.
func TestGrammarHasTheKeys(t *testing.T) {
	t.Parallel()
	read := map[string][]string{
		"":                                     slices.Concat(sectionKeys, projectKeys),
		"/definitions/config/anyOf/1":          configKeys,
		"/definitions/configItems":             typeKeys,
		"/definitions/pulumi":                  pulumiKeys,
		"/definitions/component":               componentKeys,
		"/definitions/resource":                resourceKeys,
		"/definitions/resource/properties/get": getKeys,
		"/definitions/customTimeouts option":   timeoutKeys,
		"/definitions/hook":                    hookKeys,
		"/definitions/dynamic":                 dynamicKeys,
		"/definitions/dynamic/properties/inputs/additionalProperties/anyOf/1":  dynamicInputKeys,
		"/definitions/dynamic/properties/outputs/additionalProperties/anyOf/1": dynamicOutputKeys,
		"/definitions/transforms/items":                                        transformKeys,
		"/definitions/transforms/items/properties/match":                       matchKeys,
		"/definitions/message":                                                 messageKeys,
		"/definitions/policy":                                                  policyKeys,
		"/definitions/match":                                                   policyMatchKeys,
		"/definitions/policy/properties/config/additionalProperties/anyOf/1":   policyConfigKeys,
	}
	// Other packages read these. The option transforms only takes transforms of resources.
	elsewhere := []string{"/properties/runtime/anyOf/1", "/properties/backend", "/properties/options",
		"/properties/options/properties/drift", "/properties/policyPacks/items/anyOf/1", "/definitions/driftRule",
		"/definitions/hooks option", "/definitions/transforms option/items"}
	text, err := os.ReadFile("../editor/grammar.json")
	require.NoError(t, err)
	var grammar any
	require.NoError(t, json.Unmarshal(text, &grammar))
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch node := node.(type) {
		case []any:
			for i, item := range node {
				walk(path+"/"+strconv.Itoa(i), item)
			}
		case map[string]any:
			properties, _ := node["properties"].(map[string]any)
			if keys, known := read[path]; known {
				require.ElementsMatch(t, keys, slices.Collect(maps.Keys(properties)), path)
				delete(read, path)
			} else if node["additionalProperties"] == false && !slices.Contains(elsewhere, path) {
				t.Errorf("%s of the grammar: which list of this package has these keys?", path)
			}
			for name, member := range node {
				walk(path+"/"+name, member)
			}
		}
	}
	walk("", grammar)
	require.Empty(t, read, "the grammar lacks these: %s", strings.Join(slices.Sorted(maps.Keys(read)), ", "))
}
