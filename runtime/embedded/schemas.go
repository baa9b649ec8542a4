package embedded

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"sync"

	"github.com/yamlhost/yamlhost/schema"
)

// The schemas are those of the public packages, minified and with their version added (F8.18) by
// cmd/internal/packschema. The schema of time has our own descriptions; its source is schemas/time.json.
//
//go:generate go run ../../cmd/internal/packschema -o schemas/time.json.gz schemas/time.json
//go:embed schemas/*.json.gz
var schemaFiles embed.FS

// catalog holds the embedded providers by name. It is read-only; each schema is unpacked on first use.
var catalog = map[string]*entry{
	"command": newEntry("command", commandKinds),
	"random":  newEntry("random", randomKinds),
	"std":     newEntry("std", stdKinds),
	"time":    newEntry("time", timeKinds),
	"tls":     newEntry("tls", tlsKinds),
}

// entry is one embedded provider.
type entry struct {
	// text is the schema as JSON; the caller must not modify it.
	text func() []byte
	// schema returns the parsed text. It panics if the text is malformed; a test parses every schema.
	schema func() *schema.Package
	kinds  func(Options) kinds
}

func newEntry(name string, kinds func(Options) kinds) *entry {
	mustRead := func(err error) {
		if err != nil {
			panic("the schema of the embedded provider " + name + " is damaged: " + err.Error())
		}
	}
	text := sync.OnceValue(func() []byte {
		packed, err := schemaFiles.ReadFile("schemas/" + name + ".json.gz")
		mustRead(err)
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		mustRead(err)
		data, err := io.ReadAll(unpacked)
		mustRead(err)
		return data
	})
	return &entry{text: text, kinds: kinds, schema: sync.OnceValue(func() *schema.Package {
		pkg, err := schema.Parse(text())
		mustRead(err)
		return pkg
	})}
}
