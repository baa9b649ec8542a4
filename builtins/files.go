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

// fileEvals are the functions that read files of the program and environment variables.
var fileEvals = map[string]evalFunc{
	"readFile": func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		content, err := read(env, str(args[0]))
		if err != nil {
			return value.Null, err
		}
		if !utf8.Valid(content) {
			return value.Null, blameText(0, str(args[0]), "the file is not UTF-8 text; use fn::filebase64")
		}
		return value.String(unsafe.String(unsafe.SliceData(content), len(content))), nil // content is not shared
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

// ofFile returns a body that applies convert to the content of a file.
func ofFile(convert func([]byte) string) evalFunc {
	return func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
		content, err := read(env, str(args[0]))
		return value.String(convert(content)), err
	}
}

// fileResults are the result types that depend on the arguments.
var fileResults = map[string]resultType{
	"env": func(args []schema.Type) schema.Type {
		if len(args) < 2 {
			return schema.String
		}
		return union(schema.String, argument(1)(args))
	},
}

// ErrFile is wrapped by every Error about a file that could not be read.
var ErrFile = errors.New("file access")

// read reads a file. An error of the operating system contains the absolute path, which depends on the machine, so that
// read keeps only its reason.
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
