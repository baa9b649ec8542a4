package backend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/filelock"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// workspacePath returns the file in the home folder that remembers the stacks selected for a project file (F6.15).
func workspacePath(home, project, projectFile string) string {
	sum := sha1.Sum([]byte(projectFile))
	return filepath.Join(home, "workspaces", project+"-"+hex.EncodeToString(sum[:])+"-workspace.json")
}

// editing locks a file, which is read, changed and written as a whole, against edits by other processes. The caller
// must call release.
func editing(path string) (release func(), err error) {
	// filelock.Folder would make a folder that other users can read.
	if err := disk.MkdirAll(disk.Real{}, filepath.Dir(path), true); err != nil {
		return nil, fileError("make the folder of", path, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), editLimit)
	defer cancel()
	release, err = filelock.Folder(ctx, filepath.Dir(path), nil)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("another process edits the files in that folder and makes no progress; let it go on, or end it")
	}
	return release, fileError("edit", path, err)
}

// editLimit is how long to wait for other processes to finish an edit, which takes a few milliseconds.
const editLimit = 30 * time.Second

// SelectedStack returns the full name of the stack selected for a project and a backend, empty if none is (F6.15). home
// is the tool's home folder, projectFile the absolute path of the project file, url the backend's URL as configured.
func SelectedStack(home, project, projectFile, url string) (string, error) {
	w := readObject(workspacePath(home, project, projectFile))
	name, ok := objectOf[string](w, "stacks")[url]
	if !ok {
		name = member[string](w, "stack") // older files have one stack for all backends
	}
	return name, w.fault
}

// SelectStack remembers the stack selected for a project and a backend; an empty name forgets it. The file is removed
// when nothing is left in it (F6.15).
func SelectStack(home, project, projectFile, url, qualifiedName string) error {
	return editObject(workspacePath(home, project, projectFile), func(w *objectFile) (changed bool) {
		stacks := objectOf[string](w, "stacks")
		stacks[url] = qualifiedName
		maps.DeleteFunc(stacks, func(_, name string) bool { return name == "" })
		delete(w.members, "stack")
		delete(w.members, "stacks")
		if len(stacks) > 0 {
			w.set("stacks", stacks)
		}
		if len(w.members) > 0 || w.fault != nil {
			return true
		}
		if err := osfile.Remove(w.path); !errors.Is(err, fs.ErrNotExist) {
			w.fault = fileError("remove", w.path, err)
		}
		return false
	})
}

// CurrentLogin returns the URL of the backend that the user is logged in to, empty if none (F6.16). home is the tool's
// home folder, or the folder in PULUMI_CREDENTIALS_PATH.
func CurrentLogin(home string) (string, error) {
	c := readObject(filepath.Join(home, "credentials.json"))
	url := member[string](c, "current")
	return url, c.fault
}

// Token returns the token that is kept for a service, empty if none is (F6.16). home is as for CurrentLogin.
func Token(home, url string) (string, error) {
	c := readObject(filepath.Join(home, "credentials.json"))
	token := objectOf[string](c, "accessTokens")[url]
	return token, c.fault
}

// Account is a user's account in a service.
type Account struct {
	Token string
	User  User
	At    time.Time // when the service confirmed it
}

// Login makes url the current backend, and leaves everything else in the file as it is (F6.16). account is nil unless
// url is a service.
func Login(home, url string, account *Account) error {
	return editObject(filepath.Join(home, "credentials.json"), func(c *objectFile) (changed bool) {
		tokens, accounts := objectOf[json.RawMessage](c, "accessTokens"), objectOf[json.RawMessage](c, "accounts")
		if account != nil {
			tokens[url] = c.encode(account.Token)
			accounts[url] = c.encode(map[string]any{"accessToken": account.Token, "username": account.User.Name,
				"organizations": account.User.Organizations, "lastValidatedAt": account.At})
		}
		if tokens[url] == nil {
			tokens[url] = json.RawMessage(`""`)
		}
		if accounts[url] == nil {
			accounts[url] = json.RawMessage(`{"lastValidatedAt":"0001-01-01T00:00:00Z"}`)
		}
		c.set("current", url)
		c.set("accessTokens", tokens)
		c.set("accounts", accounts)
		return true
	})
}

// DefaultOrganization returns the organization that the user has chosen for a service; empty if none. home is the
// tool's home folder.
func DefaultOrganization(home, url string) (string, error) {
	c := readObject(filepath.Join(home, "config.json"))
	own := &objectFile{path: c.path}
	if json.Unmarshal(objectOf[json.RawMessage](c, "backends")[url], &own.members) != nil {
		return "", c.fault
	}
	name := member[string](own, "defaultOrg")
	return name, cmp.Or(c.fault, own.fault)
}

// SetDefaultOrganization chooses the organization for a service, and leaves everything else as it is.
func SetDefaultOrganization(home, url, organization string) error {
	return editObject(filepath.Join(home, "config.json"), func(c *objectFile) (changed bool) {
		all, own := objectOf[json.RawMessage](c, "backends"), map[string]json.RawMessage{}
		if len(all[url]) > 0 && (json.Unmarshal(all[url], &own) != nil || own == nil) {
			c.malformed("backends")
			return false
		}
		own["defaultOrg"] = c.encode(organization)
		all[url] = c.encode(own)
		c.set("backends", all)
		return true
	})
}

// Logout forgets a backend; the current one if url is empty. It reports whether there was anything to forget.
func Logout(home, url string) (known bool, err error) {
	err = editObject(filepath.Join(home, "credentials.json"), func(c *objectFile) (changed bool) {
		current := member[string](c, "current")
		url = cmp.Or(url, current)
		if known = url != "" && url == current; known {
			delete(c.members, "current")
		}
		for _, key := range []string{"accessTokens", "accounts"} {
			m := objectOf[json.RawMessage](c, key)
			if _, ok := m[url]; ok {
				known = true
				delete(m, url)
				c.set(key, m)
			}
		}
		return known
	})
	return known, err
}

// objectFile is a small JSON file. Unknown members are kept. fault is the first error: of reading the file, of a
// member, or of writing it.
type objectFile struct {
	path    string
	members map[string]json.RawMessage
	fault   error
}

// readObject reads a file. A missing file has no members.
func readObject(path string) *objectFile {
	f := &objectFile{path: path, members: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.fault = fileError("read", path, err)
	case json.Unmarshal(text, &f.members) != nil || f.members == nil:
		f.members = map[string]json.RawMessage{}
		f.fault = &CorruptError{Path: path, Err: errors.New("it should be a JSON object; correct it, or move it away and " +
			anew(path))}
	}
	return f
}

// editObject changes a file under the lock of editing. It writes the file if edit returns true and there was no fault.
func editObject(path string, edit func(f *objectFile) (changed bool)) error {
	release, err := editing(path)
	if err != nil {
		return err
	}
	defer release()
	f := readObject(path)
	if edit(f) && f.fault == nil {
		f.fault = f.write()
	}
	return f.fault
}

// member returns a member; the zero value if there is none. A member of another type is a fault.
func member[T any](f *objectFile, key string) (v T) {
	if raw, ok := f.members[key]; ok && json.Unmarshal(raw, &v) != nil {
		f.malformed(key)
	}
	return v
}

// objectOf returns a member that is an object, never nil.
func objectOf[T any](f *objectFile, key string) map[string]T {
	if m := member[map[string]T](f, key); m != nil {
		return m
	}
	return map[string]T{}
}

// malformed records the fault that a member is of another type.
func (f *objectFile) malformed(key string) {
	f.fault = cmp.Or(f.fault, error(&CorruptError{Path: f.path,
		Err: errors.New("its member " + key + " has the wrong type; correct it, or move the file away and " + anew(f.path))}))
}

// anew returns what makes a file of the home folder anew that was moved away.
func anew(path string) string {
	switch filepath.Base(path) {
	case "credentials.json":
		return "log in again with `yamlhost login`"
	case "config.json":
		return "set the organization again with `yamlhost org set-default`"
	}
	return "select the stack again with `yamlhost stack select`"
}

// encode returns the JSON of a value.
func (f *objectFile) encode(v any) json.RawMessage {
	raw, err := compactJSON(v)
	f.fault = cmp.Or(f.fault, err)
	return raw
}

// set changes a member in memory only.
func (f *objectFile) set(key string, v any) { f.members[key] = f.encode(v) }

// write replaces the file, readable for its owner only and indented by four spaces. The first members are in the order
// of the Pulumi CLI.
func (f *objectFile) write() error {
	keys := []string{"current", "accessTokens", "accounts"}
	for _, k := range slices.Sorted(maps.Keys(f.members)) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	text := []byte{'{'}
	for _, k := range keys {
		if f.members[k] == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, f.encode(k)...), ':'), f.members[k]...)
	}
	var out bytes.Buffer
	err := json.Indent(&out, append(text, '}'), "", "    ")
	if err == nil {
		err = disk.WriteDurably(disk.Real{}, f.path, out.Bytes())
	}
	return fileError("write", f.path, err)
}
