// Command pulumi-resource-kubernetes is Pulumi's provider for Kubernetes, built from its module. Its own command embeds
// two files that exist only in releases; this one reads them from its own folder.
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
