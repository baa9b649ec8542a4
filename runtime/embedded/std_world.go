package embedded

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// world returns the functions that depend on the machine: its clock, its files and random bytes.
func (s standard) world() map[string]formula {
	now := func() time.Time { return s.o.Now().UTC() }
	stamp := func(args value.Value, name string) (time.Time, error) {
		t, err := time.Parse(time.RFC3339, lookupString(args, name))
		if err != nil {
			return t, fmt.Errorf("%s %q is not a timestamp such as 2006-01-02T15:04:05Z", name, lookupString(args, name))
		}
		return t, nil
	}
	return map[string]formula{
		"timestamp": func(value.Value) (value.Value, error) { return value.String(now().Format(time.RFC3339)), nil },
		"timeadd": func(args value.Value) (value.Value, error) {
			t, err := stamp(args, "timestamp")
			if err != nil {
				return value.Null, err
			}
			d, err := time.ParseDuration(lookupString(args, "duration"))
			if err != nil {
				return value.Null, fmt.Errorf("duration %q is not a duration such as 1h30m", lookupString(args, "duration"))
			}
			return value.String(t.Add(d).Format(time.RFC3339)), nil
		},
		"timecmp": func(args value.Value) (value.Value, error) {
			a, err := stamp(args, "timestampa")
			if err != nil {
				return value.Null, err
			}
			b, err := stamp(args, "timestampb")
			return value.Int(a.Compare(b)), err
		},
		"uuid": func(value.Value) (value.Value, error) {
			data, err := generator{s.o}.fill(16)
			if err != nil {
				return value.Null, err
			}
			uuid4(data, now())
			return value.String(functions.UUID(data)), nil
		},
		"abspath":    always1(s.path),
		"pathexpand": fromText(s.expand),
		"fileexists": func(args value.Value) (value.Value, error) {
			path, err := s.reachable(lookupString(args, "input"))
			if err != nil {
				return value.Null, err
			}
			info, err := confine.Door{Folder: s.o.Confined}.Stat(path)
			return value.Bool(err == nil && !info.IsDir()), nil
		},
	}
}

// fileForms are the functions that read a file. Each computes its result from the content.
var fileForms = map[string]func([]byte) string{
	"file":             func(b []byte) string { return string(b) },
	"filebase64":       base64.StdEncoding.EncodeToString,
	"filebase64sha256": functions.Base64SHA256,
	"filebase64sha512": functions.Base64SHA512,
	"filemd5":          functions.MD5,
	"filesha1":         functions.SHA1,
	"filesha256":       functions.SHA256,
	"filesha512":       functions.SHA512,
}

// path returns an absolute path. A relative path begins in the program's folder.
func (s standard) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(s.o.Dir, p)
}

// reachable returns the absolute path, or an error if an untrusted program may not read the file.
func (s standard) reachable(p string) (string, error) {
	path := s.path(p)
	if s.o.Confined == "" {
		return path, nil
	}
	return path, confine.Path(s.o.Confined, path)
}

func (s standard) expand(p string) (string, error) {
	if p != "~" && !strings.HasPrefix(p, "~/") {
		return p, nil
	}
	if home := environ.List(s.o.Environ).Home(); home != "" {
		return filepath.Join(home, p[1:]), nil
	}
	return "", errors.New("it is not known where the home folder is")
}
