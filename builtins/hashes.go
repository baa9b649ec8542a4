package builtins

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // see uuidv5
	"crypto/sha256"
	"encoding/hex"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// hashFuncs digest texts. A text stands for its UTF-8 bytes.
var hashFuncs = []*Func{
	{
		Name:    "sha1",
		Summary: "The SHA-1 digest of a string in lower-case hexadecimal.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::sha1: hello`,
		Call:    `sha1("hello")`,
		Gives:   `"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"`,
		Since:   "0.1.0", Rule: "L6.21", Portable: true,
		Eval: digest(functions.SHA1),
	},
	{
		Name:    "md5",
		Summary: "The MD5 digest of a string in lower-case hexadecimal.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::md5: hello`,
		Call:    `md5("hello")`,
		Gives:   `"5d41402abc4b2a76b9719d911017c592"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: digest(functions.MD5),
	},
	{
		Name:    "sha256",
		Summary: "The SHA-256 digest of a string in lower-case hexadecimal.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::sha256: hello`,
		Call:    `sha256("hello")`,
		Gives:   `"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: digest(functions.SHA256),
	},
	{
		Name:    "sha512",
		Summary: "The SHA-512 digest of a string in lower-case hexadecimal.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::sha512: hello`,
		Call:    `sha512("hello")`,
		Gives:   `"9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: digest(functions.SHA512),
	},
	{
		Name:    "base64sha256",
		Summary: "The SHA-256 digest of a string in Base64.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::base64sha256: hello`,
		Call:    `base64sha256("hello")`,
		Gives:   `"LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="`,
		Since:   "0.1.0", Rule: "D6",
		Eval: digest(functions.Base64SHA256),
	},
	{
		Name:    "base64sha512",
		Summary: "The SHA-512 digest of a string in Base64.",
		Params:  []Param{{Name: "text", Type: schema.String, Doc: "the string to digest"}},
		Result:  always(schema.String),
		Example: `fn::base64sha512: hello`,
		Call:    `base64sha512("hello")`,
		Gives:   `"m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="`,
		Since:   "0.1.0", Rule: "D6",
		Eval: digest(functions.Base64SHA512),
	},
	{
		Name:    "hmacSHA256",
		Summary: "The HMAC of a string with a key and SHA-256, in lower-case hexadecimal.",
		Params: []Param{
			{Name: "key", Type: schema.String, Doc: "the key"},
			{Name: "text", Type: schema.String, Doc: "the string to authenticate"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::hmacSHA256: [key, hello]`,
		Call:    `hmacSHA256("key", "hello")`,
		Gives:   `"9307b3b915efb5171ff14d8cb55fbcc798c6c0ef1456d66ded1a6aa723a58b7b"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			mac := hmac.New(sha256.New, []byte(str(args[0])))
			mac.Write([]byte(str(args[1])))
			return value.String(hex.EncodeToString(mac.Sum(nil))), nil
		},
	},
	{
		Name:    "uuidv5",
		Summary: "The UUID of a name in a namespace: equal names have equal UUIDs.",
		Params: []Param{
			{Name: "namespace", Type: schema.String, Doc: "dns, url, oid, x500 or a UUID"},
			{Name: "name", Type: schema.String, Doc: "the name"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::uuidv5: [dns, www.example.com]`,
		Call:    `uuidv5("dns", "www.example.com")`,
		Gives:   `"2ed6657d-e927-568b-95e1-2665a8aea6a2"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			space, ok := uuidSpace(str(args[0]))
			if !ok {
				return value.Null, blameText(0, str(args[0]), "namespace: must be dns, url, oid, x500 or a UUID")
			}
			d := sha1.Sum(append(space, str(args[1])...)) //nolint:gosec // RFC 9562 names it
			d[6], d[8] = d[6]&0x0f|0x50, d[8]&0x3f|0x80
			return value.String(functions.UUID(d[:16])), nil
		},
	},
}

// digest is a function of the bytes of a text.
func digest(of func([]byte) string) evalFunc {
	return text(func(s string) string { return of([]byte(s)) })
}

// uuidSpace returns the bytes of a namespace of UUIDs. Four namespaces have names (RFC 9562, 6.6).
func uuidSpace(name string) ([]byte, bool) {
	switch name {
	case "dns":
		name = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	case "url":
		name = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
	case "oid":
		name = "6ba7b812-9dad-11d1-80b4-00c04fd430c8"
	case "x500":
		name = "6ba7b814-9dad-11d1-80b4-00c04fd430c8"
	}
	return functions.ParseUUID(name)
}
