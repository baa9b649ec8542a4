package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"aead.dev/minisign"
)

const sumsName = "SHA256SUMS"

// sums returns the SHA-256 of each file of the release by name, in the order of names.
func (p Plan) sums() (names []string, digests map[string]string, err error) {
	entries, err := os.ReadDir(p.Out)
	if err != nil {
		return nil, nil, err
	}
	digests = map[string]string{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), sumsName) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.Out, e.Name()))
		if err != nil {
			return nil, nil, err
		}
		names = append(names, e.Name())
		digests[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return names, digests, nil
}

// provenance writes how the release was built: an in-toto statement with SLSA's predicate, over everything else in the
// folder.
func (p Plan) provenance() error {
	names, digests, err := p.sums()
	if err != nil {
		return err
	}
	type digest map[string]string
	type subject struct {
		Name   string `json:"name"`
		Digest digest `json:"digest"`
	}
	var subjects []subject
	for _, name := range names {
		subjects = append(subjects, subject{name, digest{"sha256": digests[name]}})
	}
	source := map[string]any{"uri": "git+https://github.com/yamlhost/yamlhost@refs/tags/v" + p.Version,
		"digest": digest{"gitCommit": p.Commit}}
	return writeJSON(filepath.Join(p.Out, "yamlhost_"+p.Version+".intoto.json"), map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "https://github.com/yamlhost/yamlhost/blob/main/docs/releases.md",
				"externalParameters":   map[string]any{"version": p.Version},
				"resolvedDependencies": []any{source},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": "https://github.com/yamlhost/yamlhost/blob/main/release"}},
		},
	})
}

// sign writes the checksums of everything in the folder and, with a key, their signature.
func (p Plan) sign() error {
	names, digests, err := p.sums()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&text, "%s  %s\n", digests[name], name)
	}
	path := filepath.Join(p.Out, sumsName)
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil || p.Key == "" {
		return err
	}
	key, err := minisign.PrivateKeyFromFile(p.Secret, p.Key)
	if err != nil {
		return fmt.Errorf("the key %s: %w", p.Key, err)
	}
	trusted := fmt.Sprintf("timestamp:%d\tfile:%s\tversion:%s", p.Time.Unix(), sumsName, p.Version)
	signature := minisign.SignWithComments(key, text.Bytes(), trusted, "signature of yamlhost "+p.Version+", "+
		p.Time.Format(time.DateOnly))
	return os.WriteFile(path+".minisig", signature, 0o644)
}

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
