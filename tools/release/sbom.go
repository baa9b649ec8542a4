package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	cyclone "github.com/CycloneDX/cyclonedx-go"
)

// describe writes what each archive is made of, as CycloneDX and as SPDX: the modules that its programs say they link.
func (p Plan) describe(builds []build) error {
	for _, b := range builds {
		modules, err := linked(b)
		if err != nil {
			return err
		}
		name := filepath.Join(p.Out, p.named(b.Target))
		var out bytes.Buffer
		encoder := cyclone.NewBOMEncoder(&out, cyclone.BOMFileFormatJSON).SetPretty(true)
		if err := encoder.Encode(p.cyclone(b, modules)); err != nil {
			return err
		}
		if err := os.WriteFile(name+".cdx.json", out.Bytes(), 0o644); err != nil {
			return err
		}
		if err := writeJSON(name+".spdx.json", p.spdx(b, modules)); err != nil {
			return err
		}
	}
	return nil
}

// linked returns the modules that are linked into any of a build's programs, in the order of the first that has them,
// behind Go's own library.
func linked(b build) ([]*debug.Module, error) {
	std := &debug.Module{Path: "std"}
	modules, seen := []*debug.Module{std}, map[string]bool{}
	for _, f := range b.binaries {
		info, err := buildinfo.ReadFile(f.path)
		if err != nil {
			return nil, fmt.Errorf("what %s is made of: %w", f.name, err)
		}
		std.Version = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if !seen[m.Path] {
				seen[m.Path] = true
				modules = append(modules, m)
			}
		}
	}
	return modules, nil
}

func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

func (p Plan) cyclone(b build, modules []*debug.Module) *cyclone.BOM {
	bom := cyclone.NewBOM()
	bom.SerialNumber = "urn:uuid:" + uuid(p.Commit+p.named(b.Target))
	main := cyclone.Component{
		BOMRef: purl("github.com/yamlhost/yamlhost", "v"+p.Version), Type: cyclone.ComponentTypeApplication,
		Name:    edition(b.Target),
		Version: p.Version, PackageURL: purl("github.com/yamlhost/yamlhost", "v"+p.Version),
		Licenses: &cyclone.Licenses{{License: &cyclone.License{ID: "Apache-2.0"}}},
	}
	bom.Metadata = &cyclone.Metadata{Timestamp: p.Time.Format(time.RFC3339), Component: &main}
	var needs []string
	var components []cyclone.Component
	for _, m := range modules {
		ref := purl(m.Path, m.Version)
		components = append(components, cyclone.Component{
			BOMRef: ref, Type: cyclone.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: ref})
		needs = append(needs, ref)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclone.Dependency{{Ref: main.BOMRef, Dependencies: &needs}}
	return bom
}

// The parts of an SPDX 2.3 document that a list of modules needs.
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		License       string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID       string         `json:"SPDXID"`
		Name     string         `json:"name"`
		Version  string         `json:"versionInfo"`
		Download string         `json:"downloadLocation"`
		Analyzed bool           `json:"filesAnalyzed"`
		Declared string         `json:"licenseDeclared"`
		External []spdxExternal `json:"externalRefs"`
	}
	spdxExternal struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

func (p Plan) spdx(b build, modules []*debug.Module) spdxDocument {
	d := spdxDocument{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: p.named(b.Target),
		Namespace: "https://github.com/yamlhost/yamlhost/releases/download/v" + p.Version + "/" + p.named(b.Target) +
			".spdx.json",
		Creation: spdxCreation{p.Time.Format(time.RFC3339), []string{"Tool: yamlhost release"}},
	}
	add := func(id, path, version, licence string) {
		d.Packages = append(d.Packages, spdxPackage{id, path, version, "NOASSERTION", false, licence,
			[]spdxExternal{{"PACKAGE-MANAGER", "purl", purl(path, version)}}})
	}
	add("SPDXRef-yamlhost", "github.com/yamlhost/yamlhost", "v"+p.Version, "Apache-2.0")
	d.Relationships = append(d.Relationships, spdxRelationship{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-yamlhost"})
	for i, m := range modules {
		id := fmt.Sprintf("SPDXRef-module-%d", i)
		add(id, m.Path, m.Version, "NOASSERTION")
		d.Relationships = append(d.Relationships, spdxRelationship{"SPDXRef-yamlhost", "DEPENDS_ON", id})
	}
	return d
}

// uuid returns a name-based UUID, so that the same release has the same.
func uuid(name string) string {
	h := sha256.Sum256([]byte(name))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8: made in a way of our own
	x := hex.EncodeToString(h[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
