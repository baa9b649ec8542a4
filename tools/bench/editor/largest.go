package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/yamlhost/yamlhost/tools/bench/program"
)

// largeResources is the number of resources in the program of the largest schema.
const largeResources = 1000

// largest creates the provider with the largest schema of a directory, in a folder of its own, and a program with its
// resources.
func largest(schemas, plugins string) (job, error) {
	const pkg = "azure-native"
	found, err := filepath.Glob(filepath.Join(schemas, pkg+"-full-*.json.gz"))
	if err != nil || len(found) == 0 {
		return job{}, fmt.Errorf("%s has no schema of %s with all its versions", schemas, pkg)
	}
	plugin := filepath.Join(plugins, "pulumi-resource-"+pkg)
	if err := build(plugin, "./tools/bench/pulumi-resource-noop"); err != nil {
		return job{}, err
	}
	if err := program.Unpack(found[0], filepath.Join(plugins, "schema.json")); err != nil {
		return job{}, err
	}
	var b bytes.Buffer
	b.WriteString("name: large\nruntime: yaml\nvariables:\n  region: westeurope\nresources:\n")
	for i := range largeResources {
		fmt.Fprintf(&b, "  thing%d:\n    type: azure-native:storage:StorageAccount\n    properties:\n"+
			"      resourceGroupName: group\n      accountName: account%d\n      kind: StorageV2\n"+
			"      location: ${region}\n      sku:\n        name: Standard_LRS\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "      tags:\n        size: %d\n        upstream: ${thing%d.id}\n", i, (i-1)/2)
		}
	}
	return job{name: "the largest schema", resources: largeResources, text: b.Bytes(), pkg: pkg, plugins: plugins,
		number: "        size: ", key: "      location: ", reference: "        upstream: ", step: ".id"}, nil
}
