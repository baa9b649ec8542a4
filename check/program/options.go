package program

import (
	"context"
	"io/fs"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Options are the inputs of a check besides the text. The passes get them as one value, each body of a component with
// those of the program, but for Config and ConfigKnown: the stack's configuration has no part in a component.
type Options struct {
	Project string // the project's name: the namespace of configuration keys without one
	// Schemas finds packages. If it is nil, the types of resources and functions stay unknown, and none is reported as
	// missing.
	Schemas schema.Loader
	// Packages are the packages that the project declares (L1.H), in the order of their files.
	Packages []schema.Descriptor
	// Config is the stack's configuration by full key, <namespace>:<name>.
	Config map[string]ConfigText
	// ConfigKnown reports whether Config is the configuration of a stack. Without a stack, missing values are not
	// reported.
	ConfigKnown bool
	// ConfigShared reports whether something besides the program may read the configuration, such as its compiler.
	ConfigShared bool
	// StackKeys are the full keys that some stack of the project sets, sorted. They matter when there is no stack.
	StackKeys []string
	// ConfigOpen reports whether a stack may set further keys, since an environment of it could not be opened, which
	// the caller reports.
	ConfigOpen bool
	// KindsUnknown reports whether definitions of Kubernetes kinds could not be read, which the caller reports. A kind
	// without a schema may be one of those.
	KindsUnknown bool
	// Local are the packages of components used by path (L7.31).
	Local      []LocalPackage
	ProgramDir string
	// RootDir is the project's directory. With RestrictPaths no path may lead out of it; with AllowEnv the program may
	// read environment variables that it does not list.
	RootDir                 string
	RestrictPaths, AllowEnv bool
	// Untrusted reports whether the program is not trusted: then no absolute path may lead out of RootDir either, and
	// no environment variable may be read.
	Untrusted bool
	// MayReadStack returns an error for a stack whose outputs the program may not read; nil allows all.
	MayReadStack func(name string) error
	// ParseData reads a text as data for fn::fromYAML; if nil, such texts are not read.
	ParseData ParseData
	// Stat looks for files that programs name; nil when there is no file system available. Stat, MayReadStack, Bundle
	// and Handler may be called from several goroutines at the same time.
	Stat func(path string) (fs.FileInfo, error)
	// Manifests returns what manifests of Kubernetes objects make; nil when there is no file system available.
	Manifests func(context.Context, Manifest) (kinds, namespaces []string)
	// Bundle builds the code of dynamic types; if nil, their sources are not read.
	Bundle Bundler
	// Handler reports faults of a source file that fn::bundle packs; if nil, there is no such check.
	Handler func(ctx context.Context, dir string, r HandlerSource) ([]BundleFault, error)

	// Batch is the least number of declarations that a goroutine of its own is started for; 0 for the default.
	Batch int
}

// LocalPackage is a package of components whose text is known (L7.31).
type LocalPackage struct {
	Name  string // by which tokens name it
	Alias string // another such name, as the project declares the package; may be empty
	Dir   string // that sources of dynamic types are relative to
	File  *ast.File
}

// Manifest names manifests of Kubernetes objects: a text, files that match a pattern, or the chart in a folder.
type Manifest struct{ Text, Pattern, Chart string }

// Bundler packs a source file and its imports into one text. source is relative to dir, with slashes. faults are
// mistakes in the source; err is returned if it could not be read.
type Bundler func(ctx context.Context, dir, source string) (b *Bundle, faults []BundleFault, err error)

// HandlerSource is a source file that fn::bundle packs into an archive.
type HandlerSource = builtins.BundleRequest

// BundleFault is one thing wrong with a source file.
type BundleFault struct {
	Place   string // file:line:column, or less of it; never empty
	Message string
}
