// Package program writes programs of any size, always the same text for the same size: about nine properties a
// resource, with nested maps and lists, two references to earlier resources, and some built-in functions; about 700
// bytes each.
package program

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// YAML returns a whole program, project fields included, with n resources of the package noop. edit changes the title
// of every edit-th resource; 0 changes none.
func YAML(n, edit int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	b.WriteString("name: generated\nruntime: yaml\ndescription: A generated program\n\nvariables:\n  region: north\n" +
		"  zones: [a, b, c]\n\nresources:\n")
	for i := range n {
		title := fmt.Sprintf("thing number %d", i)
		if edit > 0 && i%edit == 0 {
			title += ", edited"
		}
		fmt.Fprintf(&b, "  thing%d:\n    type: noop:index:Thing\n    properties:\n", i)
		fmt.Fprintf(&b, "      title: %s\n      size: %d\n      enabled: %t\n", title, random.IntN(1000), i%2 == 0)
		fmt.Fprintf(&b,
			"      tags:\n        environment: production\n        owner: team-%d\n        cost-centre: \"%05d\"\n        "+
				"region: ${region}\n",
			random.IntN(20), random.IntN(100000))
		fmt.Fprintf(&b, "      ports: [%d, %d, %d]\n", random.IntN(65536), random.IntN(65536), random.IntN(65536))
		fmt.Fprintf(&b,
			"      settings:\n        mode: mode-%d\n        retries: %d\n        labels:\n          tier: tier-%d\n          "+
				"zone: ${zones[%d]}\n",
			random.IntN(8), random.IntN(10), random.IntN(4), random.IntN(3))
		fmt.Fprintf(&b,
			"        rules:\n          - from: %d\n            to: %d\n            protocol: tcp\n          - from: %d\n      "+
				"      to: %d\n            protocol: udp\n",
			random.IntN(1000), random.IntN(1000), random.IntN(1000), random.IntN(1000))
		if i > 0 {
			fmt.Fprintf(&b, "      upstream: ${thing%d.uid}\n      peer: to-${thing%d.id}\n", parent(i, random), random.IntN(i))
		}
		if i%4 == 0 {
			fmt.Fprintf(&b, "      digest:\n        fn::sha1:\n          fn::join: [\"-\", [\"${region}\", part-%d, part-%d]]\n",
				i, random.IntN(100))
		} else {
			fmt.Fprintf(&b, "      digest: sha-%016x\n", random.Uint64())
		}
	}
	b.WriteString("\noutputs:\n  zones:\n    fn::join: [\",\", \"${zones}\"]\n")
	if n > 0 {
		fmt.Fprintf(&b, "  last: ${thing%d.uid}\n", n-1)
	}
	return b.Bytes()
}

// parent returns the parent of resource i: one of the first half of the resources before it, so that the graph is
// about as deep as a tree.
func parent(i int, random *rand.Rand) int { return random.IntN(i/2 + 1) }

// Terraform returns a program of the same size for terraform, with its built-in resource and values of the same shape.
func Terraform(n, edit int) []byte {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	var b bytes.Buffer
	b.WriteString("locals {\n  region = \"north\"\n  zones  = [\"a\", \"b\", \"c\"]\n}\n")
	for i := range n {
		title := fmt.Sprintf("thing number %d", i)
		if edit > 0 && i%edit == 0 {
			title += ", edited"
		}
		fmt.Fprintf(&b, "resource \"terraform_data\" \"thing%d\" {\n  input = {\n", i)
		fmt.Fprintf(&b, "    title = %q\n    size = %d\n    enabled = %t\n", title, random.IntN(1000), i%2 == 0)
		fmt.Fprintf(&b, "    tags = { environment = \"production\", owner = \"team-%d\", region = local.region }\n",
			random.IntN(20))
		fmt.Fprintf(&b, "    ports = [%d, %d, %d]\n", random.IntN(65536), random.IntN(65536), random.IntN(65536))
		fmt.Fprintf(&b, "    settings = { mode = \"mode-%d\", retries = %d, zone = local.zones[%d] }\n", random.IntN(8),
			random.IntN(10), random.IntN(3))
		if i > 0 {
			fmt.Fprintf(&b, "    upstream = terraform_data.thing%d.id\n    peer = \"to-${terraform_data.thing%d.id}\"\n",
				parent(i, random), random.IntN(i))
		}
		fmt.Fprintf(&b, "    digest = \"sha-%016x\"\n  }\n}\n", random.Uint64())
	}
	return b.Bytes()
}
