package plugin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/schema"
)

// SchemaCache keeps the schemas of plugins between runs, and indexes of large schemas, in the home folder. Several
// processes may use one at the same time.
type SchemaCache struct {
	Home string // empty to keep nothing
}

// Path returns the file that keeps the schema of the plugin at a location (F2.38). A plugin on PATH is identified by
// its path, size and time. Path is empty for a plugin whose content may change unnoticed: one of the project, or an
// attached one.
func (c SchemaCache) Path(d schema.Descriptor, loc Location) string {
	name := d.Name + "-" + loc.Version
	if loc.Ambient {
		info, err := os.Stat(loc.Path)
		if err != nil {
			return ""
		}
		name = d.Name + "-path-" + shortDigest(fmt.Appendf(nil, "%s %d %d", loc.Path, info.Size(), info.ModTime().UnixNano()))
	}
	if c.Home == "" || loc.Version == "" && !loc.Ambient {
		return ""
	}
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
	file, err := confine.NewName("a schema", name)
	if err != nil {
		return ""
	}
	return file.In(filepath.Join(c.Home, "schemas"), ".json")
}

func shortDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:12]
}

// OpenFile opens a schema in a file of the user, gzipped or not, by its index. If the index cannot be written, it reads
// the whole schema.
func (c SchemaCache) OpenFile(path string) (*schema.Package, error) {
	if c.Home == "" {
		text, err := ReadSchemaFile(path)
		if err != nil {
			return nil, err
		}
		return schema.Parse(text)
	}
	prefix := c.beside(path)
	if !strings.HasSuffix(path, ".gz") {
		return schema.OpenFile(path, prefix+".index")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	state := strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	unpacked := prefix + "-" + state + ".json"
	if pkg, err := schema.OpenKept(unpacked, prefix+".index"); err == nil {
		return pkg, nil
	}
	earlier, _ := confine.Anywhere().Glob(filepath.Dir(prefix), filepath.Base(prefix)+"-*.json") // the pattern is sound
	kept, err := unpackSchema(path, unpacked, prefix+".index", info.ModTime())
	if err != nil {
		return nil, err
	}
	if !kept {
		return SchemaCache{}.OpenFile(path)
	}
	for _, name := range earlier {
		if name != unpacked {
			_ = osfile.Remove(name)
		}
	}
	pkg, err := schema.OpenKept(unpacked, prefix+".index")
	if err != nil { // the unpacked files were changed: read the source
		return SchemaCache{}.OpenFile(path)
	}
	return pkg, nil
}

// Open opens a plugin's schema that Keep has written to a file; installed is when the plugin was installed. A schema
// that differs from its index is ignored. A schema without an index, because its writer was killed or another program
// wrote it, is read as a whole. A file older than the installation is ignored: it belongs to an earlier plugin of the
// same version.
func (c SchemaCache) Open(path string, installed time.Time) (*schema.Package, error) {
	const grain = 2 * time.Second // the resolution of times on some file systems
	if info, err := os.Stat(path); err == nil && info.ModTime().Before(installed.Add(-grain)) {
		return nil, errors.New("the schema is older than the plugin")
	}
	index := c.index(path)
	pkg, err := schema.OpenKept(path, index)
	if errors.Is(err, os.ErrNotExist) {
		return schema.OpenFile(path, index)
	}
	return pkg, err
}

// Keep writes a plugin's schema to a file, with its index, and opens it. A cache that cannot be written only costs
// time. The file gets the time of the plugin, so that processes that keep the same schema at once write the same index.
func (c SchemaCache) Keep(path string, installed time.Time, text func() io.Reader) (*schema.Package, error) {
	kept, err := schema.KeepIndexed(text(), path, c.index(path), installed)
	if err != nil {
		return nil, err
	}
	if kept {
		if pkg, err := schema.OpenKept(path, c.index(path)); err == nil {
			return pkg, nil
		}
	}
	whole, err := io.ReadAll(text())
	if err != nil {
		return nil, err
	}
	return schema.Parse(whole)
}

func (c SchemaCache) index(path string) string { return c.beside(path) + ".index" }

// Installed returns the time when a plugin was installed; zero if unknown.
func (loc Location) Installed() time.Time {
	info, err := os.Stat(loc.Path)
	if err != nil {
		return time.Time{}
	}
	if !info.IsDir() { // an archive determines the times of its files, but not that of the folder
		if dir, err := os.Stat(filepath.Dir(loc.Path)); err == nil && dir.ModTime().After(info.ModTime()) {
			info = dir
		}
	}
	return info.ModTime()
}

// beside returns the common prefix of the names of the files that cache the schema of a file.
func (c SchemaCache) beside(path string) string {
	return filepath.Join(c.Home, "yamlhost", "schemas", shortDigest([]byte(path)))
}

// unpackSchema unpacks a gzipped schema into the home folder, with its index, and reports whether both could be
// written. An unpacked file has the time of its source, so that all processes that unpack it at once share an index.
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
	return schema.KeepIndexed(&bounded{z, maxSchema}, unpacked, indexPath, modified)
}

// maxSchema is the maximum size of a schema, unpacked: that of a message of a plugin.
const maxSchema = 400 << 20

var errLargeSchema = fmt.Errorf("the schema is larger than %d MiB, unpacked", maxSchema>>20)

// bounded reads at most left bytes of a schema.
type bounded struct {
	r    io.Reader
	left int
}

// Read returns errLargeSchema if there are more bytes.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errLargeSchema
	}
	return n, err
}

// ReadSchemaFile reads a schema, which may be gzipped.
func ReadSchemaFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(&bounded{z, maxSchema})
}
