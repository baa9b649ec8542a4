package backend

import (
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
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// workspacePath returns the file in the home folder that remembers the stacks selected for a project file (F6.15).
func workspacePath(home, project, projectFile string) string {
	sum := sha1.Sum([]byte(projectFile))
	return filepath.Join(home, "workspaces", project+"-"+hex.EncodeToString(sum[:])+"-workspace.json")
}

// editing makes sure that no other process edits a file meanwhile, which is read, changed and written as a whole. The
// caller must release it.
func editing(path string) (release func(), err error) {
	if err := disk.MkdirAll(disk.Real{}, filepath.Dir(path)); err != nil { // closed to others, as the locking would not
		return nil, &FileError{Doing: "make the folder of", Path: path, Err: err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), editLimit)
	defer cancel()
	release, err = filelock.Folder(ctx, filepath.Dir(path), nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &FileError{Doing: "edit", Path: path,
			Err: errors.New("another process edits the files in that folder and makes no progress; let it go on, or end it")}
	} else if err != nil {
		return nil, &FileError{Doing: "edit", Path: path, Err: err}
	}
	return release, nil
}

// editLimit is how long to wait for others that edit the same file, which takes them a few milliseconds.
const editLimit = 30 * time.Second

// SelectedStack returns the full name of the stack selected for a project and a backend, empty if none is (F6.15). home
// is the tool's home folder, projectFile the absolute path of the project file, url the backend's URL as configured.
func SelectedStack(home, project, projectFile, url string) (string, error) {
	w, err := readObject(workspacePath(home, project, projectFile))
	if err != nil {
		return "", err
	}
	stacks, err := w.texts("stacks")
	if err != nil {
		return "", err
	}
	if name, ok := stacks[url]; ok {
		return name, nil
	}
	return w.text("stack") // from before there was one per backend
}

// SelectStack remembers the stack selected for a project and a backend; an empty name forgets it. The file is removed
// when nothing is left in it (F6.15).
func SelectStack(home, project, projectFile, url, qualifiedName string) error {
	path := workspacePath(home, project, projectFile)
	release, err := editing(path)
	if err != nil {
		return err
	}
	defer release()
	w, err := readObject(path)
	if err != nil {
		return err
	}
	stacks, err := w.texts("stacks")
	if err != nil {
		return err
	}
	stacks[url] = qualifiedName
	maps.DeleteFunc(stacks, func(_, name string) bool { return name == "" })
	delete(w.members, "stack")
	if len(stacks) == 0 {
		delete(w.members, "stacks")
	} else if err := w.set("stacks", stacks); err != nil {
		return err
	}
	if len(w.members) == 0 {
		if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &FileError{Doing: "remove", Path: w.path, Err: err}
		}
		return nil
	}
	return w.write()
}

// CurrentLogin returns the URL of the backend that one is logged in to, empty if none (F6.16). home is the tool's home
// folder, or what PULUMI_CREDENTIALS_PATH says.
func CurrentLogin(home string) (string, error) {
	c, err := readObject(filepath.Join(home, "credentials.json"))
	if err != nil {
		return "", err
	}
	return c.text("current")
}

// Token returns the token that is kept for a service, empty if none is (F6.16). home is as for CurrentLogin.
func Token(home, url string) (string, error) {
	c, err := readObject(filepath.Join(home, "credentials.json"))
	if err != nil {
		return "", err
	}
	tokens, err := c.texts("accessTokens")
	return tokens[url], err
}

// Account is who is logged in to a service.
type Account struct {
	Token string
	User  User
	At    time.Time // when the service has said so
}

// Login makes url the current backend, and leaves everything else in the file as it is (F6.16). account is nil unless
// url is a service.
func Login(home, url string, account *Account) error {
	path := filepath.Join(home, "credentials.json")
	release, err := editing(path)
	if err != nil {
		return err
	}
	defer release()
	c, err := readObject(path)
	if err != nil {
		return err
	}
	tokens, err := c.object("accessTokens")
	if err != nil {
		return err
	}
	accounts, err := c.object("accounts")
	if err != nil {
		return err
	}
	if account != nil {
		about := map[string]any{"accessToken": account.Token, "username": account.User.Name,
			"organizations": account.User.Organizations, "lastValidatedAt": account.At}
		if tokens[url], err = compactJSON(account.Token); err == nil {
			accounts[url], err = compactJSON(about)
		}
		if err != nil {
			return err
		}
	}
	if tokens[url] == nil {
		tokens[url] = json.RawMessage(`""`)
	}
	if accounts[url] == nil {
		accounts[url] = json.RawMessage(`{"lastValidatedAt":"0001-01-01T00:00:00Z"}`)
	}
	return errors.Join(c.set("current", url), c.set("accessTokens", tokens), c.set("accounts", accounts), c.write())
}

// DefaultOrganization returns the organization that the user has chosen for a service; empty if none. home is the
// tool's home folder.
func DefaultOrganization(home, url string) (string, error) {
	c, err := readObject(filepath.Join(home, "config.json"))
	if err != nil {
		return "", err
	}
	all, err := c.object("backends")
	if err != nil {
		return "", err
	}
	own := &objectFile{path: c.path}
	if len(all[url]) == 0 || json.Unmarshal(all[url], &own.members) != nil {
		return "", nil
	}
	return own.text("defaultOrg")
}

// SetDefaultOrganization chooses the organization for a service, and leaves everything else as it is.
func SetDefaultOrganization(home, url, organization string) error {
	path := filepath.Join(home, "config.json")
	release, err := editing(path)
	if err != nil {
		return err
	}
	defer release()
	c, err := readObject(path)
	if err != nil {
		return err
	}
	all, err := c.object("backends")
	if err != nil {
		return err
	}
	own := map[string]json.RawMessage{}
	if len(all[url]) > 0 {
		if err := json.Unmarshal(all[url], &own); err != nil {
			return &CorruptError{Path: path, Err: errors.New("its member backends is not of the shape that it should have")}
		}
	}
	if own["defaultOrg"], err = compactJSON(organization); err == nil {
		all[url], err = compactJSON(own)
	}
	return errors.Join(err, c.set("backends", all), c.write())
}

// Logout forgets a backend; the current one if url is empty. It reports whether there was anything to forget.
func Logout(home, url string) (bool, error) {
	path := filepath.Join(home, "credentials.json")
	release, err := editing(path)
	if err != nil {
		return false, err
	}
	defer release()
	c, err := readObject(path)
	if err != nil {
		return false, err
	}
	current, err := c.text("current")
	if err != nil {
		return false, err
	}
	if url == "" {
		url = current
	}
	known := url != "" && url == current
	if known {
		delete(c.members, "current")
	}
	for _, key := range []string{"accessTokens", "accounts"} {
		m, err := c.object(key)
		if err != nil {
			return false, err
		}
		if _, ok := m[url]; ok {
			known = true
			delete(m, url)
			if err := c.set(key, m); err != nil {
				return false, err
			}
		}
	}
	if !known {
		return false, nil
	}
	return true, c.write()
}

// objectFile is a small JSON file whose members are kept whether we know them or not.
type objectFile struct {
	path    string
	members map[string]json.RawMessage
}

// readObject reads a file; one that is not there is empty.
func readObject(path string) (*objectFile, error) {
	f := &objectFile{path: path, members: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, &FileError{Doing: "read", Path: path, Err: err}
	}
	if err := json.Unmarshal(text, &f.members); err != nil || f.members == nil {
		return nil, &CorruptError{Path: path, Err: errors.New("it should be a JSON object; remove the file to begin anew")}
	}
	return f, nil
}

// get reads a member into a variable, and leaves that as it is where there is no such member.
func (f *objectFile) get(key string, dst any) error {
	raw, ok := f.members[key]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		return &CorruptError{Path: f.path, Err: errors.New("its member " + key + " is not of the shape that it should have")}
	}
	return nil
}

// text returns a member that is a text; empty where there is none.
func (f *objectFile) text(key string) (s string, err error) { return s, f.get(key, &s) }

// texts returns a member that is a map of texts, never nil.
func (f *objectFile) texts(key string) (map[string]string, error) {
	m := map[string]string{}
	err := f.get(key, &m)
	if m == nil {
		m = map[string]string{}
	}
	return m, err
}

// object returns a member that is an object, never nil.
func (f *objectFile) object(key string) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	err := f.get(key, &m)
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	return m, err
}

// set changes a member in memory; write writes all.
func (f *objectFile) set(key string, v any) error {
	raw, err := compactJSON(v)
	f.members[key] = raw
	return err
}

// write puts the file in place whole, for its owner only. The members come in the order in which others write them.
func (f *objectFile) write() error {
	failed := func(err error) error { return &FileError{Doing: "write", Path: f.path, Err: err} }
	text, err := f.indented()
	if err != nil {
		return failed(err)
	}
	if err := disk.WriteDurably(disk.Real{}, f.path, text); err != nil {
		return failed(err)
	}
	return nil
}

// indented returns the text of the file.
func (f *objectFile) indented() ([]byte, error) {
	known := []string{"current", "accessTokens", "accounts"}
	keys := slices.DeleteFunc(known, func(k string) bool { return f.members[k] == nil })
	for _, k := range slices.Sorted(maps.Keys(f.members)) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	text := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := compactJSON(k)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), f.members[k]...)
	}
	return indentJSON(append(text, '}'))
}
