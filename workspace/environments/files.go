package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/value"
)

// Folder is the folder of a project that holds its environments, each in NAME.yaml.
const Folder = "environments"

// Options are the surroundings of an environment.
type Options struct {
	Dir   string                   // the folder of the project
	Door  confine.Door             // opens the files of environments, and those that they name
	Shown func(path string) string // how a path is called in messages

	// Check leaves out everything outside of the documents: a call of fn::open is an unknown value then, and so is a
	// secret. The fields below are not used.
	Check bool

	// Lookup returns an environment variable, Command what a command prints, and Outputs the outputs of a stack.
	Lookup  func(name string) (string, bool)
	Command func(ctx context.Context, dir string, words []string) (string, error)
	Outputs func(ctx context.Context, stack string) (value.Value, error)
	Denied  string // why fn::open is refused; empty if it is not

	// Hosted are the environments if a service keeps them, which evaluates them, too; nil for those of the project.
	Hosted *Hosted
}

// Environment is an evaluated environment.
type Environment struct {
	Values value.Value // a map
	// Places has the places of the keys of Config, by name; it is empty if a service has evaluated the environment.
	Places map[string]diag.Range
	// Spelled is Values with the text that Pulumi ESC has for each number in its place: 1.20, or an integer with digits
	// that no number of programs keeps.
	Spelled value.Value
}

// The keys of values that stacks use, and the key of the configuration of policy packs.
const (
	Config       = "pulumiConfig"
	Variables    = "environmentVariables"
	Files        = "files"
	PolicyConfig = "policyConfig"
)

// Part returns the map at a key of the values; an empty one if there is none.
func (e *Environment) Part(key string) value.Value {
	if e == nil {
		return value.EmptyMap()
	}
	return partOf(e.Values, key)
}

func partOf(values value.Value, key string) value.Value {
	part, _ := values.Lookup(key)
	return part.MapOrEmpty()
}

// Texts yields the items of the map at a key as text, sorted by name: the known values that are neither lists nor maps.
func (e *Environment) Texts(key string) iter.Seq2[string, string] {
	part := value.EmptyMap()
	if e != nil {
		part = partOf(e.Spelled, key)
	}
	return func(yield func(name, text string) bool) {
		for i, name := range part.Keys() {
			v := part.At(i)
			if !v.IsKnown() || v.Is(value.KindList) || v.Is(value.KindMap) {
				continue
			}
			text, err := value.Text(v)
			plain, _ := text.AsString()
			if err == nil && !yield(name, plain) {
				return
			}
		}
	}
}

// Document evaluates the text of the environment of a name. The error is that of a service.
func (o Options) Document(ctx context.Context, name string, src *diag.Source) (*Environment, diag.Diagnostics, error) {
	if o.Hosted != nil {
		if o.Denied != "" {
			return nil, nil, fmt.Errorf("the service is not asked for environments: %s", o.Denied)
		}
		return o.Hosted.evaluate(ctx, src, o.Check)
	}
	env, diags := o.document(ctx, name, src)
	return env, diags, nil
}

// Named evaluates the environment of a name.
func (o Options) Named(ctx context.Context, name string) (*Environment, diag.Diagnostics, error) {
	if o.Hosted != nil {
		return o.Hosted.named(ctx, name, o.Check)
	}
	src, err := o.Read(name)
	if err != nil {
		return nil, nil, err
	}
	return o.Document(ctx, name, src)
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)?$`)

// File returns the path of the file of an environment, which need not exist. Names have one or two parts, as those of
// Pulumi ESC.
func (o Options) File(name string) (string, error) {
	if plain, version, versioned := strings.Cut(name, "@"); versioned && nameForm.MatchString(plain) {
		return "", fmt.Errorf("the environment %s is a file, and files have no version %s\nName it %[1]s.", plain, version)
	}
	if !nameForm.MatchString(name) {
		return "", fmt.Errorf("%q is no name of an environment\nA name is NAME or PROJECT/NAME, of letters, digits, - _ and "+
			"points.", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if _, err := confine.NewName("an environment", part); err != nil {
			return "", err
		}
	}
	return filepath.Join(o.Dir, Folder, filepath.FromSlash(name)+".yaml"), nil
}

// NameOf returns the name of the environment whose file has a path, and whether there is one.
func (o Options) NameOf(path string) (string, bool) {
	rel, err := filepath.Rel(filepath.Join(o.Dir, Folder), path)
	name, isYAML := strings.CutSuffix(filepath.ToSlash(rel), ".yaml")
	return name, err == nil && isYAML && nameForm.MatchString(name)
}

// Names returns the environments of the project, sorted.
func (o Options) Names() ([]string, error) {
	root := filepath.Join(o.Dir, Folder)
	var names []string
	err := o.Door.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name, isEnv := o.NameOf(path); isEnv && !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// Read reads the file of an environment.
func (o Options) Read(name string) (*diag.Source, error) {
	path, err := o.File(name)
	if err != nil {
		return nil, err
	}
	text, err := o.Door.ReadFile(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		names, _ := o.Names()
		return nil, fmt.Errorf("there is no environment %s%s\nIts file would be %s; make it with `yamlhost env init %[1]s`.",
			name, diag.DidYouMean(name, names), o.Shown(path))
	}
	if errors.As(err, new(*fs.PathError)) {
		return nil, fmt.Errorf("the environment %s cannot be read: %s: %w", name, o.Shown(path), osfile.PlainError(err))
	}
	if err != nil {
		return nil, fmt.Errorf("read environment %s: %w", name, err)
	}
	return diag.NewSource(o.Shown(path), text), nil
}
