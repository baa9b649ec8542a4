// Package templates creates projects from templates, which are embedded in the binary, folders or git repositories. A
// template is a project in Pulumi's own form: a Pulumi.yaml, which may have a section `template`, and any other files.
// Reading a template runs none of its files and reads nothing outside its folder.
package templates

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/plugin/install"
	"github.com/yamlhost/yamlhost/workspace/project"
)

//go:embed all:files
var embedded embed.FS

// Template is a template in memory.
type Template struct {
	project.Template
	Name        string // name of an embedded template, or the user's name for a folder or repository
	ProjectFile string // name of the project file
	// Joins reports whether the template adds files to an existing project instead of creating one.
	Joins bool
	files []File
}

// File is a file of a template or of a project made from it.
type File struct {
	Path string // relative, with slashes
	Text []byte
	Mode fs.FileMode // permissions
	// Usual reports whether the file is a default that an existing file may replace.
	Usual bool
}

// TestScript is the file that tests a project.
const TestScript = "test.sh"

// joining holds the embedded templates that add files to any project.
var joining = []string{"github-actions", "gitlab-ci"}

// Names returns the names of the embedded templates, the recommended first one first.
func Names() []string {
	entries, _ := embedded.ReadDir("files") // cannot fail
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	i := slices.Index(names, "hello")
	return slices.Insert(slices.Delete(names, i, i+1), 0, "hello")
}

// Embedded reads an embedded template.
func Embedded(name string) (*Template, error) {
	files, err := fs.Sub(embedded, path.Join("files", name))
	if err != nil {
		return nil, err
	}
	t, err := read(name, files)
	if err != nil {
		return nil, err
	}
	t.files = append(t.files, testScript(name))
	t.Joins = slices.Contains(joining, name)
	return t, nil
}

// FromFolder reads a folder as a template. name is the user's name for it. Links are followed inside the folder; a
// link out of it is an error. Folders of version control and settings of the template's own stacks are left out.
func FromFolder(dir, name string) (*Template, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read template %s: %w", name, err)
	}
	defer root.Close()
	return read(name, root.FS())
}

// Limits of a template, since it is held in memory.
const (
	mostFiles = 10_000
	mostBytes = 100 << 20
)

func read(name string, files fs.FS) (*Template, error) {
	t := &Template{Name: name}
	settings := regexp.MustCompile(`^Pulumi\..+\.(yaml|yml|json)$`) // settings of stacks
	size := int64(0)
	err := fs.WalkDir(files, ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{".git", ".hg", ".svn"}, e.Name()):
			return fs.SkipDir
		case e.IsDir(), path.Dir(file) == "." && settings.MatchString(file):
			return nil
		}
		info, err := fs.Stat(files, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder, nor a link to a file of the template", file)
		}
		if size += info.Size(); size > mostBytes || len(t.files) == mostFiles {
			return fmt.Errorf("it is not a template: there are more than %d files or %d MiB in it", mostFiles, mostBytes>>20)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o111 != 0 {
			mode = 0o755
		}
		t.files = append(t.files, File{Path: file, Text: text, Mode: mode})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read template %s: %w", name, err)
	}
	return t, t.readProject()
}

// readProject finds the template's project file and reads its section `template`.
func (t *Template) readProject() error {
	i := slices.IndexFunc(t.files, func(f File) bool { return f.Path == "Pulumi.yaml" || f.Path == "Pulumi.yml" })
	if i < 0 {
		return fmt.Errorf("%s is not a template: it has no Pulumi.yaml", t.Name)
	}
	f := t.files[i]
	t.ProjectFile = f.Path
	decl, found := project.ReadTemplate(diag.NewSource(strings.TrimSuffix(filepath.ToSlash(t.Name), "/")+"/"+f.Path,
		project.StripBOM(f.Text)))
	if found.HasErrors() {
		return &FaultyError{found}
	}
	t.Template = *decl
	return nil
}

// FaultyError is returned for a template with errors in its project file. Found has at least one error.
type FaultyError struct {
	Found diag.Diagnostics
}

// Error returns the first finding.
func (e *FaultyError) Error() string {
	return fmt.Sprintf("the template is faulty: %s", e.Found[0].Summary)
}

// ignored is the .gitignore of a project if the template has none.
const ignored = `# Plans and logs of this machine.
*.plan.json
*.log

# What package managers install.
node_modules/
__pycache__/
.venv/

# Secrets of this machine.
.env
`

// unlocked is the lock file of a project if the template has none. The first installation of a plugin for the project
// adds the plugin with its checksums.
const unlocked = "{\n  \"version\": 1,\n  \"plugins\": []\n}\n"

// usual holds the files that every project has.
var usual = []File{
	{Path: ".gitignore", Text: []byte(ignored), Mode: 0o644, Usual: true},
	{Path: install.LockName, Text: []byte(unlocked), Mode: 0o644, Usual: true},
}

// Fill returns the files of a project with the given name and description, including a .gitignore and a lock file.
func (t *Template) Fill(name, description string) ([]File, error) {
	var made []File
	for _, f := range t.files {
		switch {
		case f.Path == t.ProjectFile:
			text, err := project.FromTemplate(f.Text, name, description)
			if err != nil {
				return nil, fmt.Errorf("template %s: %s: %w", t.Name, f.Path, err)
			}
			f.Text = text
		case !bytes.ContainsRune(f.Text, 0): // not a binary file
			f.Text = project.Fill(f.Text, name, description)
		}
		made = append(made, f)
	}
	for _, f := range usual {
		if !slices.ContainsFunc(t.files, func(own File) bool { return own.Path == f.Path }) {
			made = append(made, f)
		}
	}
	return made, nil
}

// Conflicts returns the paths of files that already exist in a folder. The folder itself need not exist.
func Conflicts(dir string, files []File) ([]string, error) {
	var taken []string
	for _, f := range files {
		switch is, err := isTaken(filepath.Join(dir, filepath.FromSlash(f.Path))); {
		case err != nil:
			return nil, err
		case is:
			taken = append(taken, f.Path)
		}
	}
	return taken, nil
}

// isTaken reports whether a new file cannot get this path, because it exists or a file is in the place of one of its
// folders.
func isTaken(path string) (bool, error) {
	for at := path; ; at = filepath.Dir(at) {
		switch _, err := os.Lstat(at); {
		case err == nil && at == path:
			return true, nil
		case err == nil:
			info, err := os.Stat(at)
			return err != nil || !info.IsDir(), nil // a link to nothing cannot become a folder
		case !osfile.IsAbsent(err) || filepath.Dir(at) == at:
			return false, err
		}
	}
}

// Write writes files into a folder, which it creates if necessary, and never through links that lead out of it. An
// existing file is an error unless replace is set. After an error Write removes the files it created.
func Write(dir string, files []File, replace bool) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var fresh []string
	defer func() {
		if err != nil {
			for _, name := range fresh {
				_ = root.Remove(name) // report the first error only
			}
		}
	}()
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		_, missing := root.Lstat(name)
		flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		if missing == nil && replace {
			flags = os.O_WRONLY | os.O_TRUNC
		}
		if err := writeFile(root, name, flags, f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		if missing != nil {
			fresh = append(fresh, name)
		}
	}
	return nil
}

func writeFile(root *os.Root, name string, flags int, f File) error {
	out, err := root.OpenFile(name, flags, f.Mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Text)
	return errors.Join(err, out.Close())
}

// NameFor derives a project name from a folder's: invalid characters become hyphens.
func NameFor(dir string) string {
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(filepath.Base(dir), "-"), "-")
	if project.CheckName(name) != nil {
		return "project"
	}
	return name
}

// The scripts that test projects made from embedded templates. lifeScript deploys and destroys a stack; its lines
// #setup and #promises are replaced by the template's own. checkScript is for programs with providers that need
// credentials.
var (
	//go:embed scripts/life.sh
	lifeScript string
	//go:embed scripts/check.sh
	checkScript string
)

// lives holds the templates that lifeScript tests, with the lines each adds.
var lives = map[string]struct{ setup, promises string }{
	"hello": {promises: `greeting=$(yamlhost stack output greeting --stack dev)
name=$(yamlhost stack output name --stack dev)
[ "$greeting" = "Hello, $name!" ] || fail "the greeting is: $greeting"
`},
	"empty": {promises: `# What the program promises belongs here, such as:
# [ "$(yamlhost stack output name --stack dev)" = "..." ] || fail "the name is another"
`},
	"github-actions": {promises: hasName},
	"gitlab-ci":      {promises: hasName},
	"component-package": {promises: `morning=$(yamlhost stack output morning --stack dev)
case $morning in
"Good morning, "*!) ;;
*) fail "the words are: $morning" ;;
esac
`},
	"dynamic-provider": {
		setup: `export PULUMI_CONFIG_PASSPHRASE="${PULUMI_CONFIG_PASSPHRASE-test}" # of the copy alone
`,
		promises: `path=$(yamlhost stack output path --stack dev)
grep -q "Bread and butter" "$path" || fail "the note is not in $path"
`},
}

const hasName = `name=$(yamlhost stack output name --stack dev)
[ -n "$name" ] || fail "there is no name"
`

// testScript returns the script for projects made from an embedded template.
func testScript(template string) File {
	text := checkScript
	if life, ok := lives[template]; ok {
		text = strings.NewReplacer("#setup\n", life.setup, "#promises\n", life.promises).Replace(lifeScript)
	}
	return File{Path: TestScript, Text: []byte(text), Mode: 0o644}
}
