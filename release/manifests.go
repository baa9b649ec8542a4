package main

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed manifests install.sh
var texts embed.FS

// manifests writes what package managers read: Homebrew's formula, Scoop's manifest and WinGet's three files, and the
// installer of this version. Those of a system whose archives were not built are left out.
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
	for _, m := range []struct{ from, to, needs string }{
		{"homebrew.rb", "yamlhost.rb", "darwin_arm64.tar.gz"},
		{"scoop.json", "yamlhost.json", "windows_amd64.zip"},
		{"winget.yaml", "yamlhost.yamlhost.yaml", "windows_amd64.zip"},
		{"winget.installer.yaml", "yamlhost.yamlhost.installer.yaml", "windows_amd64.zip"},
		{"winget.locale.yaml", "yamlhost.yamlhost.locale.en-US.yaml", "windows_amd64.zip"},
	} {
		if digests["yamlhost_"+p.Version+"_"+m.needs] == "" {
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
