package cli

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// keepSchema writes a schema to the cache and answers whether it could. A cache that cannot be written costs time and
// nothing else.
func keepSchema(path string, text []byte) bool {
	return os.MkdirAll(filepath.Dir(path), 0o755) == nil && renameio.WriteFile(path, text, 0o644) == nil
}

// openSchemaFile opens a schema, gzipped or not, by its index, which is kept in the home folder; where there is none, or it
// cannot be written, the schema is read as a whole.
func openSchemaFile(home, path string) (*schema.Package, error) {
	if home == "" {
		text, err := readSchemaFile(path)
		if err != nil {
			return nil, err
		}
		return schema.Parse(text)
	}
	if strings.HasSuffix(path, ".gz") {
		unpacked, err := unpackSchema(home, path)
		if err != nil {
			return nil, err
		}
		if unpacked == "" {
			return openSchemaFile("", path)
		}
		path = unpacked
	}
	return schema.OpenFile(path, filepath.Join(home, "yamlhost", "schemas", shortDigest([]byte(path))+".index"))
}

// unpackSchema unpacks a gzipped schema into the home folder, once for each state of the file, and answers where; nowhere
// when the folder cannot be written.
func unpackSchema(home, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	of := filepath.Join(home, "yamlhost", "schemas", shortDigest([]byte(path)))
	state := strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	unpacked := of + "-" + state + ".json"
	if _, err := os.Stat(unpacked); err == nil {
		return unpacked, nil
	}
	packed, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return "", err
	}
	if earlier, err := filepath.Glob(of + "-*.json"); err == nil {
		for _, name := range earlier {
			_ = os.Remove(name)
		}
	}
	if os.MkdirAll(filepath.Dir(unpacked), 0o755) != nil {
		return "", nil
	}
	target, err := renameio.NewPendingFile(unpacked, renameio.WithPermissions(0o644))
	if err != nil {
		return "", nil
	}
	defer target.Cleanup() // without effect once it has its name
	if _, err := io.Copy(target, z); err != nil {
		return "", err
	}
	if target.CloseAtomicallyReplace() != nil {
		return "", nil
	}
	return unpacked, nil
}
