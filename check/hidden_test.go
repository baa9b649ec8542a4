package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// oddSchema has a function for other languages, and a function and a method that cannot be read.
const oddSchema = `{"name": "odd", "version": "1.0.0",
	"resources": {"odd:index:Thing": {"methods": {"get": "odd:index:Thing/get"}}},
	"functions": {
		"odd:index:ghost": {"isOverlay": true},
		"odd:index:usual": {"inputs": {"properties": {"a": {"type": "string"}}}},
		"odd:index:broken": {"inputs": {"properties": {"a": 3}}},
		"odd:index:Thing/get": {"inputs": {"properties": {"a": 3}}}}}`

// What no schema describes is not shown if its key sounds secret. Neither are arguments of a function that may be another
// one.
func TestWhatNoSchemaDescribesIsHidden(t *testing.T) {
	t.Parallel()
	odd := func(o *check.Options) {
		o.Schemas = schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
			if d.PackageName() == "odd" {
				return []byte(oddSchema), nil
			}
			return readTestdata(d.PackageName())
		})
	}
	call := func(resource, method string) string {
		return "resources: {r: {type: 'odd:Thing'}, n: {type: 'nowhere:Thing'}}\nvariables:\n  v: {fn::call: {resource: '" +
			resource + "', method: " + method + ", arguments: {KEY: canary, n: '${nothing}'}}}"
	}
	invoke := func(function string) string {
		return "variables:\n  v: {fn::invoke: {function: '" + function + "', arguments: {KEY: canary, n: '${nothing}'}}}"
	}
	for name, c := range map[string]struct{ text, key string }{
		"a function of an absent package": {invoke("nowhere:get"), "dbPassword"},
		"a function with a broken schema": {invoke("odd:broken"), "dbPassword"},
		"a function of other languages":   {invoke("odd:ghost"), "anything"},
		"a method of an unknown type":     {call("${any}", "get"), "dbPassword"},
		"a method of an absent package":   {call("${n}", "get"), "dbPassword"},
		"a method of a component": {"components: {C: {}}\n" + strings.Replace(call("${c}", "get"), "resources: {",
			"resources: {c: {type: 'components:C'}, ", 1), "dbPassword"},
		"a method that there is not":    {call("${r}", "gte"), "anything"},
		"a method with a broken schema": {call("${r}", "get"), "dbPassword"},
		"an argument that there is not": {invoke("odd:usual"), "dbPassword"},
		"a property that there is not": {"variables: {n: '${nothing}'}\n" +
			"resources: {e: {type: 'zoo:Typed', properties: {s: '${nothing}', obj: {KEY: canary}}}}", "dbPassword"},
		"a function that is called as key": {"variables:\n  v: {fn::nowhere:get: {KEY: canary, n: '${nothing}'}}", "dbPassword"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(c.text, "KEY", c.key)
			if strings.Contains(text, "${any}") {
				text = strings.Replace(text, "variables:\n", "variables:\n  any: {fn::fromJSON: '{}'}\n", 1)
			}
			_, diags := checkText(t, "Main.yaml", text, odd)
			var b strings.Builder
			require.NoError(t, diag.WriteText(&b, diags, diag.TextOptions{}))
			require.Contains(t, b.String(), "nothing", "the line is shown")
			require.Contains(t, b.String(), c.key)
			require.NotContains(t, b.String(), "canary")
		})
	}
}
