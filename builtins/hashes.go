package builtins

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // see uuidv5
	"crypto/sha256"
	"encoding/hex"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// hashEvals digest texts. A text stands for its UTF-8 bytes.
var hashEvals = map[string]evalFunc{
	"sha1":         digest(functions.SHA1),
	"md5":          digest(functions.MD5),
	"sha256":       digest(functions.SHA256),
	"sha512":       digest(functions.SHA512),
	"base64sha256": digest(functions.Base64SHA256),
	"base64sha512": digest(functions.Base64SHA512),
	"hmacSHA256": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		mac := hmac.New(sha256.New, []byte(str(args[0])))
		mac.Write([]byte(str(args[1])))
		return value.String(hex.EncodeToString(mac.Sum(nil))), nil
	},
	"uuidv5": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		space, ok := uuidSpace(str(args[0]))
		if !ok {
			return value.Null, blameText(0, str(args[0]), "namespace: must be dns, url, oid, x500 or a UUID")
		}
		d := sha1.Sum(append(space, str(args[1])...)) //nolint:gosec // RFC 9562 names it
		d[6], d[8] = d[6]&0x0f|0x50, d[8]&0x3f|0x80
		return value.String(functions.UUID(d[:16])), nil
	},
}

// digest is a function of the bytes of a text.
func digest(sum func([]byte) string) evalFunc {
	return text(func(s string) string { return sum([]byte(s)) })
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
