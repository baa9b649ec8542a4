package langhost

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/literal"
)

// packageHead holds the parts of a package's schema that a declaration needs.
type packageHead struct {
	Name                      string         `json:"name"`
	Version                   string         `json:"version"`
	PluginDownloadURL         string         `json:"pluginDownloadURL"`
	Parameterization          *parameterHead `json:"parameterization"`
	ExtensionParameterization *parameterHead `json:"extensionParameterization"`
}

type parameterHead struct {
	BaseProvider struct {
		Name              string `json:"name"`
		Version           string `json:"version"`
		PluginDownloadURL string `json:"pluginDownloadURL"`
	} `json:"baseProvider"`
	Parameter []byte `json:"parameter"`
	encoded   string // the parameter in base64, used instead of Parameter if not empty
}

// GeneratePackage writes the declaration of a package (L1.40), which is the whole SDK of a YAML program.
func (h *Host) GeneratePackage(_ context.Context, r *pulumirpc.GeneratePackageRequest) (
	*pulumirpc.GeneratePackageResponse, error) {
	if len(r.GetExtraFiles()) > 0 {
		return nil, errors.New("packages for YAML are declarations and cannot carry files of their own")
	}
	name, text, err := Declaration([]byte(r.GetSchema()), "")
	if err != nil {
		return nil, err
	}
	if err := writeFile(name.In(r.GetDirectory(), ".yaml"), text); err != nil {
		return nil, fmt.Errorf("write the package declaration: %w", err)
	}
	return &pulumirpc.GeneratePackageResponse{}, nil
}

// Declaration returns the declaration of the package with a schema, and its file name. version is used if the schema
// has none.
func Declaration(schema []byte, version string) (name confine.Name, text []byte, err error) {
	var head packageHead
	if err := json.Unmarshal(schema, &head); err != nil {
		return confine.Name{}, nil, fmt.Errorf("read the package's schema: %w", err)
	}
	if head.Name == "" {
		return confine.Name{}, nil, errors.New("the package's schema gives no name")
	}
	head.Version = cmp.Or(head.Version, version)
	full := head.Name
	if head.Version != "" {
		full += "-" + head.Version
	}
	if name, err = confine.NewName("a package", full); err != nil {
		return confine.Name{}, nil, err
	}
	return name, []byte(head.declaration()), nil
}

// declaration returns the text of the package's declaration file (F3.18).
func (p *packageHead) declaration() string {
	var b strings.Builder
	b.WriteString("packageDeclarationVersion: 1\n")
	field := func(indent, key, text string) {
		if text != "" {
			b.WriteString(indent + key + ": " + literal.Scalar(text) + "\n")
		}
	}
	kind, parameters := "parameterization", p.Parameterization
	if p.ExtensionParameterization != nil {
		kind, parameters = "extension", p.ExtensionParameterization
	}
	if parameters == nil {
		field("", "name", p.Name)
		field("", "version", p.Version)
		field("", "downloadUrl", p.PluginDownloadURL)
		return b.String()
	}
	base := parameters.BaseProvider
	field("", "name", base.Name)
	field("", "version", base.Version)
	field("", "downloadUrl", cmp.Or(base.PluginDownloadURL, p.PluginDownloadURL))
	b.WriteString(kind + ":\n")
	field("  ", "name", p.Name)
	field("  ", "version", p.Version)
	value := cmp.Or(parameters.encoded, base64.StdEncoding.EncodeToString(parameters.Parameter))
	b.WriteString("  value: " + literal.Scalar(value) + "\n")
	return b.String()
}

// Pack copies the declaration file of a package and returns the path of the copy.
func (h *Host) Pack(ctx context.Context, r *pulumirpc.PackRequest) (*pulumirpc.PackResponse, error) {
	paths, err := confine.Anywhere().Glob(r.GetPackageDirectory(), "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("look for the package declaration: %w", err)
	}
	if len(paths) != 1 {
		return nil, fmt.Errorf("a package for YAML is one declaration file, but %s holds %d", r.GetPackageDirectory(),
			len(paths))
	}
	text, err := confine.Anywhere().ReadFile(ctx, paths[0])
	if err != nil {
		return nil, fmt.Errorf("read the package declaration: %w", err)
	}
	artifact := filepath.Join(r.GetDestinationDirectory(), filepath.Base(paths[0]))
	if err := writeFile(artifact, text); err != nil {
		return nil, fmt.Errorf("copy the package declaration: %w", err)
	}
	return &pulumirpc.PackResponse{ArtifactPath: artifact}, nil
}
