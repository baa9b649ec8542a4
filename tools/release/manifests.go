package main

import (
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed manifests install.sh
var texts embed.FS

// manifests writes what package managers read: Homebrew's formula, Scoop's manifest and WinGet's three files, and the
// installer of this version. One that names an archive which was not built is left out.
func (p Plan) manifests() error {
	_, digests, err := p.sums()
	if err != nil {
		return err
	}
	data := map[string]any{
		"Version": p.Version, "Date": p.Time.Format("2006-01-02"),
		"URL": "https://github.com/yamlhost/yamlhost/releases/download/v" + p.Version,
		"Sum": func(target string) string { return digests["yamlhost_"+p.Version+"_"+target] },
	}
	built := func(targets ...string) bool {
		return !slices.ContainsFunc(targets, func(t string) bool { return digests["yamlhost_"+p.Version+"_"+t] == "" })
	}
	windows := []string{"windows_amd64.zip", "windows_arm64.zip"}
	unix := []string{"darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz"}
	for _, m := range []struct {
		from, to string
		names    []string // the archives whose checksums it has
	}{
		{"homebrew.rb", "yamlhost.rb", unix},
		{"scoop.json", "yamlhost.json", windows},
		{"winget.yaml", "yamlhost.yamlhost.yaml", windows},
		{"winget.installer.yaml", "yamlhost.yamlhost.installer.yaml", windows},
		{"winget.locale.yaml", "yamlhost.yamlhost.locale.en-US.yaml", windows},
	} {
		if !built(m.names...) {
			continue
		}
		t, err := template.New(m.from).Funcs(template.FuncMap{"upper": strings.ToUpper}).Option("missingkey=error").ParseFS(
			texts, "manifests/"+m.from)
		if err != nil {
			return err
		}
		var out strings.Builder
		if err := t.Execute(&out, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.Out, m.to), []byte(out.String()), 0o644); err != nil {
			return err
		}
	}
	script, err := texts.ReadFile("install.sh")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Out, "install.sh"), script, 0o755)
}
