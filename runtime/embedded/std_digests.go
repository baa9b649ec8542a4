package embedded

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"

	"golang.org/x/crypto/bcrypt"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

func stdDigests() map[string]formula {
	hash := func(digest func([]byte) string) formula {
		return always1(func(s string) string { return digest([]byte(s)) })
	}
	return map[string]formula{
		"md5": hash(functions.MD5), "sha1": hash(functions.SHA1), "sha256": hash(functions.SHA256),
		"sha512": hash(functions.SHA512), "base64sha256": hash(functions.Base64SHA256),
		"base64sha512": hash(functions.Base64SHA512),
		"bcrypt": func(args value.Value) (value.Value, error) {
			cost := bcrypt.DefaultCost
			if args.Has("cost") {
				var err error
				if cost, err = whole(args, "cost"); err != nil {
					return value.Null, err
				}
			}
			hashed, err := bcrypt.GenerateFromPassword([]byte(lookupString(args, "input")), cost)
			return value.String(string(hashed)), err
		},
		"rsadecrypt": decryptRSA,
	}
}

// decryptRSA decrypts RSA with PKCS #1 v1.5 padding. Errors do not contain any of the key.
func decryptRSA(args value.Value) (value.Value, error) {
	sealed, err := base64.StdEncoding.DecodeString(lookupString(args, "cipherText"))
	if err != nil {
		return value.Null, errors.New("cipherText is not base64")
	}
	parsed, _, err := parseKey(lookupString(args, "key"), "key")
	if err != nil {
		var inOpenSSH error
		if parsed, _, inOpenSSH = parseOpenSSHKey(lookupString(args, "key"), "key"); inOpenSSH != nil {
			return value.Null, err
		}
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return value.Null, errors.New("key is not an RSA key")
	}
	//lint:ignore SA1019 the function std:rsadecrypt is defined so
	text, err := rsa.DecryptPKCS1v15(nil, key, sealed)
	if err != nil {
		return value.Null, errors.New("cipherText cannot be decrypted with this key")
	}
	return value.String(string(text)), nil
}
