package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// Language is the language of a source file.
type Language string

// The languages, by the interpreter that runs them.
const (
	Node   Language = "node"
	Python Language = "python"
)

// LanguageOf returns the language of a source file by its name, and whether it can be bundled.
func LanguageOf(path string) (Language, bool) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs":
		return Node, true
	case ".py":
		return Python, true
	}
	return "", false
}

// Options are the inputs of Make.
type Options struct {
	// Dir is the absolute folder that Source is relative to. Imports must be below it, except those from node_modules.
	Dir string
	// Source is the path of the entry file, relative to Dir, with slashes.
	Source string
	// Stubs are texts of modules, by module name, used if the project has not installed the module.
	Stubs map[string]string
	// External are packages that are not bundled; "@aws-sdk/*" is a pattern.
	External []string
	// Minify shortens names and drops white space.
	Minify bool
	// Handler is set for code that runs elsewhere; it is nil for a provider.
	Handler *Handler
	// Confined reports whether files in node_modules must be below Dir, too.
	Confined bool
}

// Handler has the options of a bundle that runs elsewhere.
type Handler struct {
	Export   string // the only name that the bundle exports, which the entry must export; empty for all its exports
	Captured bool   // the sources may import Captured
}

// Captured is the module from which TypeScript and JavaScript import captured values. CapturedFile, beside the bundle,
// holds the values. Python imports them from the module CapturedPython.
const (
	Captured       = "yamlhost:captured"
	CapturedFile   = "captured.json"
	CapturedPython = "yamlhost_captured"
)

// exportName matches a name that a module can export.
var exportName = lazyregexp.New(`^[A-Za-z_$][\w$]*$`)

// Bundle is an entry file with everything that it imports. It is immutable.
type Bundle struct {
	Language Language
	Code     string            // for Python a JSON object with the entry and the texts by path
	Texts    map[string]string // files of a Handler by path relative to the entry's folder; nil for a provider
	Digest   string            // "sha256:" and the hex hash of language and code
	Files    []string          // source files, relative to Dir with slashes, sorted
	Map      *Map              // from Code to sources; nil for Python, which keeps the lines of the files
}

// Fault is one reason why there is no bundle.
type Fault struct {
	File    string // relative to Dir, with slashes; empty if no file is at fault
	Line    int    // 1-based; 0 for the whole file
	Column  int    // 0-based, in bytes
	Length  int    // in bytes
	Message string
}

// Error lists all faults of a source. It has at least one.
type Error struct{ Faults []Fault }

// Error returns the first fault with its position, and the number of the others.
func (e *Error) Error() string {
	text := e.Faults[0].String()
	if more := len(e.Faults) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// Place returns the position as file:line:column with a 1-based column, or only the file if the line is unknown.
func (f Fault) Place() string {
	if f.File == "" || f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column+1)
}

// String returns the position and the message.
func (f Fault) String() string {
	if f.File == "" {
		return f.Message
	}
	return f.Place() + ": " + f.Message
}

// Make bundles a source. Its error is an *Error.
func Make(o Options) (*Bundle, error) {
	language, known := LanguageOf(o.Source)
	if !known {
		return nil, fault(o.Source, "a source file ends in .ts, .mts, .cts, .js, .mjs, .cjs or .py")
	}
	if !filepath.IsLocal(filepath.FromSlash(o.Source)) {
		return nil, fault(o.Source, "the file is outside of the project")
	}
	source := filepath.Join(o.Dir, filepath.FromSlash(o.Source))
	if _, err := confine.Anywhere().Stat(source); errors.Is(err, fs.ErrNotExist) {
		return nil, fault(o.Source, "there is no such file")
	}
	if h := o.Handler; h != nil && h.Export != "" && !exportName().MatchString(h.Export) {
		return nil, fault(o.Source, "a module cannot export "+strconv.Quote(h.Export))
	}
	var b *Bundle
	var err error
	if language == Python {
		b, err = makePython(o)
	} else {
		b, err = makeNode(o)
	}
	if err != nil {
		return nil, err
	}
	b.Language = language
	hash := sha256.Sum256([]byte(string(language) + "\x00" + b.Code))
	b.Digest = "sha256:" + hex.EncodeToString(hash[:])
	return b, nil
}

func fault(file, message string) *Error {
	return &Error{Faults: []Fault{{File: filepath.ToSlash(file), Message: message}}}
}

// inside reports whether a path is below dir after symbolic links are followed.
func inside(dir, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // reading the file gives a better error
	}
	if realDir, err := filepath.EvalSymlinks(dir); err == nil {
		dir = realDir
	}
	rel, err := filepath.Rel(dir, real)
	return err == nil && filepath.IsLocal(rel)
}
