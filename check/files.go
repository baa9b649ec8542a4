package check

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// checkPath looks whether the file of a literal path exists (L6.50): one that is missing fails the run, unless a
// resource that the declaration needs creates it.
func (c *constants) checkPath(f *builtins.Func, arg ast.Expr) {
	text, ok := c.constant(arg).(*ast.String)
	if !ok || text.Value == "" || !c.checkConfined(arg, text.Value) || c.opts.Stat == nil {
		return
	}
	path := filepath.FromSlash(text.Value)
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.opts.ProgramDir, path)
	}
	c.volatile = true
	info, err := c.opts.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		report := c.errorf
		if c.needsResource() {
			report = c.warnf
		}
		report(diag.FileAccess, arg.Range(), "paths are relative to the directory of the program",
			"the file %s does not exist", shown(text.Value))
	case err != nil:
	case f.Name == "fileArchive" && !info.IsDir() && !isArchive(path): // L6.52
		c.warnf(diag.FileAccess, arg.Range(), "an archive is a directory, or a .tar, .tgz, .tar.gz, .zip or .jar file",
			"%s is not an archive", shown(text.Value))
	case f.Name != "fileArchive" && info.IsDir():
		hint := ""
		if f.Name == "fileAsset" {
			hint = "use fn::fileArchive for a directory"
		}
		c.warnf(diag.FileAccess, arg.Range(), hint, "%s is a directory", shown(text.Value))
	}
}

// needsResource reports whether the declaration names a resource, or a variable that may come from one.
func (c *constants) needsResource() bool {
	return slices.ContainsFunc(c.unit.Accesses, func(a *ast.Access) bool {
		ref := c.program.Ref(a)
		return ref.Kind == RefNode && (ref.Node.Kind == ResourceNode || c.comesFromResource(a))
	})
}

func isArchive(path string) bool {
	name := strings.ToLower(path)
	return slices.ContainsFunc([]string{".tar", ".tgz", ".tar.gz", ".zip", ".jar"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}
