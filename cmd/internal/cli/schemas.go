package cli

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
	of := beside(home, path)
	if !strings.HasSuffix(path, ".gz") {
		return schema.OpenFile(path, of+".index")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	state := strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	unpacked := of + "-" + state + ".json"
	if pkg, err := schema.OpenKept(unpacked, of+".index"); err == nil {
		return pkg, nil
	}
	earlier, _ := filepath.Glob(of + "-*.json") // the pattern is sound
	kept, err := unpackSchema(path, unpacked, of+".index", info.ModTime())
	if err != nil {
		return nil, err
	}
	if !kept {
		return openSchemaFile("", path)
	}
	for _, name := range earlier {
		if name != unpacked {
			_ = os.Remove(name)
		}
	}
	pkg, err := schema.OpenKept(unpacked, of+".index")
	if err != nil { // somebody has been at them: the source knows better
		return openSchemaFile("", path)
	}
	return pkg, nil
}

// openCachedSchema opens a plugin's schema that cacheSchema has kept. One that is no longer what its index says is not trusted;
// where there is no index, because its writer was killed or another program has kept it, it is taken for what it is. What was
// kept before the plugin was installed is that of another one, which had the same version.
func openCachedSchema(home, path string, installed time.Time) (*schema.Package, error) {
	const grain = 2 * time.Second // a file system may keep times no finer
	if info, err := os.Stat(path); err == nil && info.ModTime().Before(installed.Add(-grain)) {
		return nil, errors.New("the schema is older than the plugin")
	}
	index := cachedIndex(home, path)
	pkg, err := schema.OpenKept(path, index)
	if errors.Is(err, os.ErrNotExist) {
		return schema.OpenFile(path, index)
	}
	return pkg, err
}

// cacheSchema keeps a plugin's schema, with its index, and opens it. A cache that cannot be written costs time and nothing
// else. The time of what it keeps is that of the plugin, so that an index stands for all who do it at once.
func cacheSchema(home, path string, installed time.Time, text func() io.Reader) (*schema.Package, error) {
	kept, err := schema.KeepIndexed(text(), path, cachedIndex(home, path), installed)
	if err != nil {
		return nil, err
	}
	if kept {
		if pkg, err := schema.OpenKept(path, cachedIndex(home, path)); err == nil {
			return pkg, nil
		}
	}
	whole, err := io.ReadAll(text())
	if err != nil {
		return nil, err
	}
	return schema.Parse(whole)
}

func cachedIndex(home, path string) string { return beside(home, path) + ".index" }

// installedAt is when a plugin of the plugin folder was put there; zero when that cannot be told.
func installedAt(at plugin.Location) time.Time {
	info, err := os.Stat(at.Path)
	if err != nil {
		return time.Time{}
	}
	if !info.IsDir() { // a package may give its file any time, but not the folder that it was unpacked into
		if dir, err := os.Stat(filepath.Dir(at.Path)); err == nil && dir.ModTime().After(info.ModTime()) {
			info = dir
		}
	}
	return info.ModTime()
}

// beside is what the names of the files start with that are kept about the schema of a file.
func beside(home, path string) string {
	return filepath.Join(home, "yamlhost", "schemas", shortDigest([]byte(path)))
}

// unpackSchema unpacks a gzipped schema into the home folder, with its index, and answers whether both could be kept. The
// time of what it unpacks is that of its source, so that an index stands for all who do it at once.
func unpackSchema(path, unpacked, indexPath string, modified time.Time) (kept bool, err error) {
	packed, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return false, err
	}
	return schema.KeepIndexed(z, unpacked, indexPath, modified)
}
