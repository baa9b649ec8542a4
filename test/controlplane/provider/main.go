// Command pulumi-resource-kubernetes is Pulumi's provider for Kubernetes as its module has it. Its own command embeds
// two files that are made when it is released; this one reads them beside itself.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	provider.Serve("kubernetes", version.Version, beside(self, "schema.json"), beside(self, "terraform-mapping.json"))
}

func beside(self, name string) []byte {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), name))
	if err != nil {
		log.Fatal(err)
	}
	return text
}
