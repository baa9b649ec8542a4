package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// An ID follows from the inputs of Kubernetes objects, and of a type whose resources in the state all have one of their
// inputs as their ID.
func TestDerivedID(t *testing.T) {
	t.Parallel()
	text := value.String
	metadata := func(name, namespace string) value.Value {
		m := value.MapOf(value.Entry{Key: "name", Value: text(name)})
		if namespace != "" {
			m = m.With("namespace", text(namespace))
		}
		return value.MapOf(value.Entry{Key: "metadata", Value: m})
	}
	inputs := func(name, zone string) value.Value {
		return value.MapOf(value.Entry{Key: "name", Value: text(name)}, value.Entry{Key: "zone", Value: text(zone)})
	}
	made := func(typ, id string, inputs value.Value) *state.Resource {
		return &state.Resource{URN: urn.New("dev", "p", "", typ, "r"+id), Type: typ, Custom: true, ID: id, Inputs: inputs}
	}
	const kube, other = "kubernetes:core/v1:ConfigMap", "cloud:index:Bucket"
	for name, c := range map[string]struct {
		state  []*state.Resource
		typ    string
		inputs value.Value
		want   string
	}{
		"an object in a namespace":  {nil, kube, metadata("a", "shop"), "shop/a"},
		"an object of the cluster":  {nil, kube, metadata("a", ""), "a"},
		"a name that is generated":  {nil, kube, value.MapOf(value.Entry{Key: "metadata", Value: value.EmptyMap()}), ""},
		"a secret name":             {nil, kube, value.MapOf(value.Entry{Key: "metadata", Value: metadata("a", "").Get("metadata").With("name", text("a").Secret())}), ""},
		"no example":                {nil, other, inputs("a", "z"), ""},
		"an example":                {[]*state.Resource{made(other, "b", inputs("b", "z"))}, other, inputs("a", "z"), "a"},
		"an example of another way": {[]*state.Resource{made(other, "i-1", inputs("b", "z"))}, other, inputs("a", "z"), ""},
		"one example does not fit": {[]*state.Resource{made(other, "b", inputs("b", "z")),
			made(other, "i-1", inputs("c", "z"))}, other, inputs("a", "z"), ""},
		"two ways that differ": {[]*state.Resource{made(other, "b", inputs("b", "b"))}, other, inputs("a", "z"), ""},
		"an example of metadata": {[]*state.Resource{made(other, "shop/b", metadata("b", "shop"))}, other,
			metadata("a", "shop"), "shop/a"},
		"another type": {[]*state.Resource{made("cloud:index:Disk", "b", inputs("b", "z"))}, other, inputs("a", "z"), ""},
	} {
		got := DerivedID(&state.Snapshot{Resources: c.state}, made(c.typ, "", c.inputs))
		require.Equal(t, c.want, got, name)
	}
}
