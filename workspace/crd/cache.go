package crd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/schema"
)

// File is a file with definitions.
type File struct {
	Path  string // absolute
	Shown string // what users see of it
}

// Cache keeps the schemas of files, each until the file has another size or time. It is safe for concurrent use.
type Cache struct {
	// Dir is the folder where schemas are kept between runs; empty for none. What is in it is trusted.
	Dir string

	mu    sync.Mutex
	files map[File]*content    // guarded by mu
	made  map[string]*manifest // by path; guarded by mu
	sets  map[string]*Set      // by the files; guarded by mu
}

// content is what a file had at some time.
type content struct {
	size    int64
	changed int64           // nanoseconds since 1970
	schema  *schema.Package // nil for a file with a fault
	fault   *diag.Diagnostic
}

// Read reads files, several at a time. A file with a fault has one finding, and adds nothing.
func (c *Cache) Read(door confine.Door, files []File) (*Set, diag.Diagnostics) {
	read := make([]*content, len(files))
	kept := sync.OnceValue(c.keptBefore)
	parallel.Each(len(files), 1, func(i int) { read[i] = c.content(door, files[i], kept) })
	s := &Set{}
	var diags diag.Diagnostics
	for i, r := range read {
		switch {
		case r.fault != nil:
			diags.Add(*r.fault)
			s.Faulty = true
		case r.schema != nil:
			diags.Add(s.add(files[i], r.schema)...)
		}
	}
	return c.same(files, s), diags
}

// manifest is what a file made at some time.
type manifest struct {
	size, changed int64
	made          Made
}

// Making returns what the manifests in a file make; nothing for a file that cannot be read.
func (c *Cache) Making(ctx context.Context, door confine.Door, path string) Made {
	info, err := door.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		c.mu.Lock()
		delete(c.made, path)
		c.mu.Unlock()
		return Made{}
	}
	now := &manifest{size: info.Size(), changed: info.ModTime().UnixNano()}
	c.mu.Lock()
	known := c.made[path]
	c.mu.Unlock()
	if known != nil && known.size == now.size && known.changed == now.changed {
		return known.made
	}
	text, err := door.ReadFile(ctx, path)
	if err != nil {
		return Made{}
	}
	now.made = Making(diag.NewSource(path, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	c.mu.Lock()
	defer c.mu.Unlock()
	keep(&c.made, path, now)
	return now.made
}

// mostKept is how many entries a map of a cache has at most, for editors that stay open while files come and go.
const mostKept = 4000

// keep adds an entry to a map of a cache. One that is full loses another entry, which is made again when it is needed.
func keep[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	if _, known := (*m)[key]; !known && len(*m) >= mostKept {
		for other := range *m {
			delete(*m, other)
			break
		}
	}
	(*m)[key] = v
}

// same returns the set of an earlier call for the same files if nothing has changed, so that packages stay the same.
func (c *Cache) same(files []File, s *Set) *Set {
	key := fmt.Sprintf("%q", files)
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.sets[key]
	if known != nil && known.Faulty == s.Faulty && slices.Equal(known.packages, s.packages) {
		return known
	}
	keep(&c.sets, key, s)
	return s
}

// content returns what a file has. before returns what keptBefore does.
func (c *Cache) content(door confine.Door, f File, before func() map[string][]string) *content {
	info, err := door.Stat(f.Path)
	if err != nil {
		c.mu.Lock()
		delete(c.files, f)
		c.mu.Unlock()
		return &content{fault: unreadable(f, err)}
	}
	now := content{size: info.Size(), changed: info.ModTime().UnixNano()}
	c.mu.Lock()
	known := c.files[f]
	c.mu.Unlock()
	if known != nil && known.size == now.size && known.changed == now.changed &&
		(known.schema == nil || !known.schema.Damaged()) {
		return known
	}
	now.schema, now.fault = c.open(door, f, info, before)
	c.mu.Lock()
	defer c.mu.Unlock()
	keep(&c.files, f, &now)
	return &now
}

// open reads a file, or the schema that was made of it before.
func (c *Cache) open(door confine.Door, f File, info fs.FileInfo, before func() map[string][]string) (*schema.Package,
	*diag.Diagnostic) {
	kept, index := c.keptAt(f.Path, info)
	if kept != "" {
		if pkg, err := schema.OpenKept(kept, index); err == nil {
			return pkg, nil
		}
	}
	text, err := door.ReadFile(context.Background(), f.Path)
	if err != nil {
		return nil, unreadable(f, err)
	}
	made, fault := convert(diag.NewSource(f.Shown, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	if fault != nil {
		return nil, fault
	}
	if kept != "" {
		for _, earlier := range before()[strings.TrimSuffix(filepath.Base(index), ".index")] { // states of the file
			_ = osfile.Remove(filepath.Join(c.Dir, earlier))
		}
		if done, err := schema.KeepIndexed(bytes.NewReader(made), kept, index, info.ModTime()); done && err == nil {
			if pkg, err := schema.OpenKept(kept, index); err == nil {
				return pkg, nil
			}
		}
	}
	pkg, err := schema.Parse(made)
	if err != nil { // which is ours, and never the file's fault
		return nil, unreadable(f, err)
	}
	return pkg, nil
}

// generation is the version of cached schemas. Increase it when schemas are generated differently.
const generation = "crd1-"

// keptAt returns where the schema of a state of a file is kept, with its index; empty if nothing is kept.
func (c *Cache) keptAt(path string, info fs.FileInfo) (schema, index string) {
	if c.Dir == "" {
		return "", ""
	}
	sum := sha256.Sum256([]byte(path))
	prefix := filepath.Join(c.Dir, generation+hex.EncodeToString(sum[:])[:16])
	state := strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	return prefix + "-" + state + ".json", prefix + ".index"
}

// keptBefore returns the names of the schemas in Dir, by what the names of all states of a file begin with.
func (c *Cache) keptBefore() map[string][]string {
	entries, _ := confine.Anywhere().ReadDir(c.Dir) // a missing folder has none
	names := map[string][]string{}
	for _, entry := range entries {
		of, rest, found := strings.Cut(strings.TrimPrefix(entry.Name(), generation), "-")
		if found && strings.HasPrefix(entry.Name(), generation) && strings.HasSuffix(rest, ".json") {
			names[generation+of] = append(names[generation+of], entry.Name())
		}
	}
	return names
}

func unreadable(f File, err error) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.BadDefinition,
		Summary: f.Shown + " cannot be read: " + osfile.PlainError(err).Error(),
		Subject: diag.NewRange(diag.NewSource(f.Shown, nil), 0, 0)}
}
