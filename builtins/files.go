package builtins

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"unicode/utf8"
	"unsafe"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// fileEvals read files of the program, and the environment that it runs in.
var fileEvals = map[string]evalFunc{
	"readFile": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		content, err := read(env, str(args[0]))
		if err != nil {
			return value.Null, err
		}
		if !utf8.Valid(content) {
			return value.Null, blameText(0, str(args[0]), "the file is not UTF-8 text; use fn::filebase64")
		}
		return value.String(unsafe.String(unsafe.SliceData(content), len(content))), nil // nobody else has the bytes
	},
	"filebase64":       ofFile(base64.StdEncoding.EncodeToString),
	"filebase64sha256": ofFile(functions.Base64SHA256),
	"env": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		v, found, err := env.Env(str(args[0]))
		switch {
		case err != nil:
			return value.Null, blame(0, "%s", err)
		case found:
			return v, nil
		case args[1].IsNull():
			return value.Null, blame(0, "the environment variable %s is not set, and there is no default", str(args[0]))
		}
		return args[1], nil
	},
}

// ofFile returns a function of the bytes of a file.
func ofFile(convert func([]byte) string) evalFunc {
	return func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		content, err := read(env, str(args[0]))
		return value.String(convert(content)), err
	}
}

// fileResults are the types of results that depend on the arguments.
var fileResults = map[string]resultType{
	"env": func(args []schema.Type) schema.Type {
		if len(args) < 2 {
			return schema.String
		}
		return union(schema.String, argument(1)(args))
	},
}

// ErrFile is behind every Error about a file that could not be read.
var ErrFile = errors.New("file access")

// read reads a file. The operating system's error names the absolute path, which belongs to the machine and not to
// the program, so read keeps only the reason.
func read(env Env, path string) ([]byte, error) {
	content, err := env.ReadFile(path)
	if err == nil {
		return content, nil
	}
	reason := "cannot be read"
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		reason += " (" + pathError.Err.Error() + ")"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "does not exist"
	case errors.Is(err, fs.ErrPermission):
		reason = "may not be read"
	}
	return nil, &Error{Arg: 0, Reason: "the file " + reason, Shown: path, Err: errors.Join(ErrFile, err)}
}
