package program

import (
	"bytes"
	"fmt"
	"strings"
)

// head is how the programs of this file begin.
const head = "name: generated\nruntime: yaml\nresources:\n"

func thing(b *bytes.Buffer, name, title, upstream string) {
	fmt.Fprintf(b, "  %s:\n    type: noop:index:Thing\n    properties:\n      title: %s\n      size: 3\n", name, title)
	if upstream != "" {
		fmt.Fprintf(b, "      upstream: ${%s.uid}\n", upstream)
	}
}

// Chain returns a program of n resources. Each needs the one before.
func Chain(n int) []byte {
	b := bytes.NewBufferString(head)
	before := ""
	for i := range n {
		name := fmt.Sprintf("thing%d", i)
		thing(b, name, "link", before)
		before = name
	}
	return b.Bytes()
}

// Fan returns a program of n resources. All of them need the first.
func Fan(n int) []byte {
	b := bytes.NewBufferString(head)
	thing(b, "hub", "hub", "")
	for i := range n - 1 {
		thing(b, fmt.Sprintf("spoke%d", i), "spoke", "hub")
	}
	return b.Bytes()
}

// Flat has n resources that need nothing.
func Flat(n int) []byte {
	b := bytes.NewBufferString(head)
	for i := range n {
		thing(b, fmt.Sprintf("thing%d", i), "alone", "")
	}
	return b.Bytes()
}

// ForEach has one declaration of n resources.
func ForEach(n int) []byte {
	return fmt.Appendf([]byte(head), "  thing:\n    type: noop:index:Thing\n    forEach: %d\n    properties:\n"+
		"      title: number ${each.value}\n      size: ${each.value}\n      tags: {owner: \"team-${each.key}\"}\n", n)
}

// Components has components of three levels, with n resources at the bottom; n is a cube.
func Components(n int) []byte {
	side := 1
	for side*side*side < n {
		side++
	}
	b := bytes.NewBufferString("name: generated\nruntime: yaml\ncomponents:\n")
	inner := "noop:index:Thing"
	for _, name := range []string{"Leaf", "Branch"} {
		fmt.Fprintf(b, "  %s:\n    inputs:\n      title: {type: string}\n    resources:\n      part:\n        type: %s\n"+
			"        forEach: %d\n        properties: {title: \"${title}-${each.key}\"}\n", name, inner, side)
		inner = "components:" + name
	}
	fmt.Fprintf(b, "resources:\n  tree:\n    type: %s\n    forEach: %d\n    properties: {title: \"tree-${each.key}\"}\n",
		inner, side)
	return b.Bytes()
}

// Big has n resources with a text of size bytes each.
func Big(n, size int) []byte {
	b := bytes.NewBufferString(head)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("line %d of a large text. ", i), size/20)[:size]
		thing(b, fmt.Sprintf("thing%d", i), "'"+text+"'", "")
	}
	return b.Bytes()
}

// Secrets has n resources with a secret each, all different.
func Secrets(n int) []byte {
	b := bytes.NewBufferString(head)
	for i := range n {
		thing(b, fmt.Sprintf("thing%d", i), fmt.Sprintf("{\"fn::secret\": password-%08x}", i*2654435761%(1<<32)), "")
	}
	return b.Bytes()
}
