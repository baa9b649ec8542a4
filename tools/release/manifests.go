package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
		f, err := os.Open(filepath.Join(p.Out, e.Name()))
		if err != nil {
			return nil, nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		_ = f.Close() // it was only read
		if err != nil {
			return nil, nil, err
		}
		names = append(names, e.Name())
		digests[e.Name()] = hex.EncodeToString(h.Sum(nil))
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
