package builtins

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"unicode/utf8"
	"unsafe"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// fileFuncs read files of the program, and the environment that it runs in.
var fileFuncs = []*Func{
	{
		Name:    "readFile",
		Summary: "The content of a file, which must be UTF-8 text.",
		Params:  []Param{{Name: "path", Type: schema.String, Path: true, Doc: "the file, relative to the program directory"}},
		Result:  always(schema.String),
		Example: `fn::readFile: ./motd.txt`,
		Call:    `readFile("./motd.txt")`,
		Gives:   `"hello\n"`,
		Since:   "0.1.0", Rule: "L6.22", Portable: true,
		Eval: func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
			content, err := read(env, str(args[0]))
			if err != nil {
				return value.Null, err
			}
			if !utf8.Valid(content) {
				return value.Null, blameText(0, str(args[0]), "the file is not UTF-8 text; use fn::filebase64")
			}
			return value.String(unsafe.String(unsafe.SliceData(content), len(content))), nil // nobody else has the bytes
		},
	},
	{
		Name:    "filebase64",
		Summary: "The content of a file in Base64.",
		Params:  []Param{{Name: "path", Type: schema.String, Path: true, Doc: "the file, relative to the program directory"}},
		Result:  always(schema.String),
		Example: `fn::filebase64: ./motd.txt`,
		Call:    `filebase64("./motd.txt")`,
		Gives:   `"aGVsbG8K"`,
		Since:   "0.1.0", Rule: "L6.24", Portable: true,
		Eval: func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
			content, err := read(env, str(args[0]))
			if err != nil {
				return value.Null, err
			}
			return value.String(base64.StdEncoding.EncodeToString(content)), nil
		},
	},
	{
		Name:    "filebase64sha256",
		Summary: "The SHA-256 digest of a file's content in Base64.",
		Params:  []Param{{Name: "path", Type: schema.String, Path: true, Doc: "the file, relative to the program directory"}},
		Result:  always(schema.String),
		Example: `fn::filebase64sha256: ./motd.txt`,
		Call:    `filebase64sha256("./motd.txt")`,
		Gives:   `"WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM="`,
		Since:   "0.1.0", Rule: "L6.24", Portable: true,
		Eval: func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
			content, err := read(env, str(args[0]))
			if err != nil {
				return value.Null, err
			}
			return value.String(functions.Base64SHA256(content)), nil
		},
	},
	{
		Name:    "env",
		Summary: "The value of an environment variable, which the program must be allowed to read.",
		Params: []Param{
			{Name: "name", Type: schema.String,
				Doc: "the variable, which the program lists under pulumi.allowEnv, or under pulumi.publicEnv if it is not secret"},
			{Name: "default", Type: schema.Any, Doc: "the result if the variable is not set", Optional: true},
		},
		Shape: Positional,
		Result: func(args []schema.Type) schema.Type {
			if len(args) < 2 {
				return schema.String
			}
			return union(schema.String, argument(1)(args))
		},
		Example: `fn::env: [REGION, us]`,
		Call:    `env("REGION", "us")`,
		Gives:   `secret "eu"`,
		Since:   "0.2.0", Rule: "L10.C9",
		Eval: func(_ context.Context, env Env, args []value.Value) (value.Value, error) {
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
