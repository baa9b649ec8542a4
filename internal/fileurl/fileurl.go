// Package fileurl converts between paths and file URLs. A path of Windows has a drive or a server, file:///C:/a
// and file://server/share/a, and separators of its own; percent signs, an empty host and localhost mean something on
// every system. Code that decides whether a URL may be opened has to call the same function as the code that opens it.
package fileurl

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
)

// Of returns the URL of an absolute path.
func Of(path string) string { return system(runtime.GOOS).of(path) }

// Folder returns the URL of a backend's folder, as the CLI of Pulumi writes it: its path follows the two slashes, and
// may be relative or begin with ~ for the home folder.
func Folder(path string) string { return system(runtime.GOOS).folder(path) }

// Path returns the absolute path that a file URL names.
func Path(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL", text)
	}
	return PathOf(u)
}

// PathOf is Path for a URL that has been parsed.
func PathOf(u *url.URL) (string, error) { return system(runtime.GOOS).path(u) }

// Local returns the path that the path of a URL means: with the separators of this system, and a drive without the
// slash before it. It may be relative.
func Local(path string) string { return system(runtime.GOOS).local(path) }

// Is reports whether a text is a file URL.
func Is(text string) bool {
	scheme, _, found := strings.Cut(text, ":")
	return found && strings.EqualFold(scheme, "file")
}

// system is a value of runtime.GOOS.
type system string

const windows system = "windows"

// Prefixes of paths of Windows that lift the limit of their length, as they look with slashes.
const (
	verbatim       = "//?/"
	verbatimServer = "//?/UNC/"
)

func (s system) of(path string) string {
	u := url.URL{Scheme: "file", Path: path}
	if s != windows {
		return u.String()
	}
	u.Path = slashed(path)
	switch {
	case hasDrive(u.Path):
		u.Path = "/" + u.Path
	case strings.HasPrefix(u.Path, "//"):
		server, rest, _ := strings.Cut(u.Path[2:], "/")
		u.Host, u.Path = server, "/"+rest
	}
	return u.String()
}

func (s system) folder(path string) string {
	if s == windows {
		path = slashed(path)
		if hasDrive(path) {
			path = "/" + path
		}
	}
	return "file://" + marks.Replace(path)
}

// marks escapes what means something in a URL. All else stays as users have it, because the text is a key: credentials
// and selections are kept by it.
var marks = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23")

// slashed returns a path of Windows with slashes, and without a prefix that lifts the limit of its length.
func slashed(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if rest, found := strings.CutPrefix(path, verbatimServer); found {
		return "//" + rest
	}
	return strings.TrimPrefix(path, verbatim)
}

func (s system) path(u *url.URL) (string, error) {
	switch {
	case u.Scheme != "file":
		return "", fmt.Errorf("%q is not the scheme of a file", u.Scheme)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("a file URI has no user, query or fragment")
	case u.Opaque != "":
		return "", errNotAbsolute
	}
	path := u.Path
	if host := u.Host; host != "" && !strings.EqualFold(host, "localhost") {
		switch {
		case s != windows:
			return "", fmt.Errorf("file URI has host %q; leave it empty", host)
		case hasDrive(host + "/"): // file://C:/a
			path = "/" + host + path
		default:
			path = "//" + host + path
		}
	}
	if s != windows {
		if !strings.HasPrefix(path, "/") {
			return "", errNotAbsolute
		}
		return path, nil
	}
	path = s.local(path)
	switch {
	case strings.HasPrefix(path, `\\.`), strings.HasPrefix(path, `\\?`), strings.HasPrefix(path, `\??`):
		return "", errors.New("a file URI names no device")
	case strings.HasPrefix(path, `\\`):
		server, share, _ := strings.Cut(path[2:], `\`)
		if server == "" || strings.Trim(share, `\`) == "" {
			return "", errors.New("a file URI of a server needs a share")
		}
	case !hasDrive(path):
		return "", errNotAbsolute
	}
	return path, nil
}

var errNotAbsolute = errors.New("a file URI needs an absolute path")

func (s system) local(path string) string {
	if s != windows {
		return path
	}
	if rest := strings.TrimLeft(path, "/"); len(path)-len(rest) == 1 && hasDrive(rest) {
		path = rest
	}
	return strings.ReplaceAll(path, "/", `\`)
}

// hasDrive reports whether a path begins with a drive and its root.
func hasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\') &&
		('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}
