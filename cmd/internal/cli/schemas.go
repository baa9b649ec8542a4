package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/schema"
)

// schemaCache is the file that keeps a plugin's schema between runs (F2.38); empty for a plugin whose content may change
// under the same version: one from PATH, from the project or attached.
func schemaCache(home string, d schema.Descriptor, at plugin.Location) string {
	if home == "" || at.Version == "" {
		return ""
	}
	name := d.Name + "-" + at.Version
	if d.DownloadURL != "" {
		name += "-" + shortDigest([]byte(d.DownloadURL))
	}
	if q := d.Parameterization; q != nil {
		text, err := json.Marshal(map[string]any{"name": q.Name, "version": q.Version, "value": q.Value})
		if err != nil {
			return ""
		}
		name += "-" + shortDigest(text)
	}
	return filepath.Join(home, "schemas", name+".json")
}

func shortDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:12]
}

// keepSchema writes a schema to the cache. A cache that cannot be written costs time and nothing else.
func keepSchema(path string, text []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
		_ = renameio.WriteFile(path, text, 0o644)
	}
}
