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

// hashEvals are the digests of strings. A string is digested as UTF-8.
var hashEvals = map[string]evalFunc{
	"sha1":         digest(functions.SHA1),
	"md5":          digest(functions.MD5),
	"sha256":       digest(functions.SHA256),
	"sha512":       digest(functions.SHA512),
	"base64sha256": digest(functions.Base64SHA256),
	"base64sha512": digest(functions.Base64SHA512),
	"hmacSHA256": textAnd(func(key, text string) value.Value {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(text))
		return value.String(hex.EncodeToString(mac.Sum(nil)))
	}),
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

// digest returns a body that applies sum to the bytes of a string.
func digest(sum func([]byte) string) evalFunc {
	return text(func(s string) string { return sum([]byte(s)) })
}

// uuidSpaces are the predefined namespaces of UUIDs (RFC 9562, 6.6).
var uuidSpaces = map[string]string{
	"dns":  "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
	"url":  "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
	"oid":  "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
	"x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

// uuidSpace returns the bytes of a UUID namespace, given by its name or as a UUID.
func uuidSpace(name string) ([]byte, bool) {
	if known, ok := uuidSpaces[name]; ok {
		name = known
	}
	return functions.ParseUUID(name)
}
