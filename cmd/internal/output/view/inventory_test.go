package view

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// The resources of a stack stand in the order and nesting of the program, whatever their order in the state, with their
// marks; default providers are counted.
func TestInventory(t *testing.T) {
	t.Parallel()
	item := func(parent urn.URN, typ, name, at string) *state.Resource {
		u := urn.New("dev", "p", parent, typ, name)
		r := &state.Resource{URN: u, Type: typ, Custom: true, Parent: parent, ID: "id-" + name}
		if at != "" {
			r.SourcePosition = "project:///Pulumi.yaml#" + at
		}
		return r
	}
	stack := item("", urn.RootStackType, "p-dev", "")
	web := item(stack.URN, "components:index:Web", "web", "9,3")
	first, last := item(stack.URN, "s:index/item:Item", "first", "5,3"), item(stack.URN, "s:index/item:Item", "last", "20,3")
	child := item(web.URN, "s:m/thing:Thing", "web-child", "30,7")
	first.Protect, first.Taint = true, true
	gone := item(stack.URN, "s:index/item:Item", "last", "20,3")
	gone.Delete = true
	own := item(stack.URN, urn.ProviderType("s"), "east", "7,3")
	usual := item(stack.URN, urn.ProviderType("s"), "default_1_0_0", "")
	var b strings.Builder
	s := &state.Snapshot{Resources: []*state.Resource{stack, usual, last, gone, child, web, own, first}}
	WriteInventory(&b, s, InventoryOptions{})
	require.Equal(t, `     p-dev        stack
       first      s:Item             protected, tainted
       east       pulumi:providers:s
       web        components:Web
         …-child  s:m:Thing
       last       s:Item
       last       s:Item             replaced, pending deletion
     1 default provider
`, b.String())
	require.Equal(t, []int{0, 7, 6, 5, 2, 3, 4, 1}, ProgramOrder(s.Resources))
	b.Reset()
	WriteInventory(&b, &state.Snapshot{Resources: []*state.Resource{stack, usual}},
		InventoryOptions{URNs: true, IDs: true, Providers: true, Width: 40})
	require.Contains(t, b.String(), "default_1_0_0")
	require.Contains(t, b.String(), "     URN: "+string(stack.URN)+"\n     ID: id-p-dev\n")
}
