package embedded

import (
	"crypto/md5"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"golang.org/x/crypto/bcrypt"

	"github.com/yamlhost/yamlhost/value"
)

func stdDigests() map[string]formula {
	hash := func(fn func([]byte) []byte) formula {
		return always1(func(s string) string { return hex.EncodeToString(fn([]byte(s))) })
	}
	return map[string]formula{
		"md5": hash(md5Of), "sha1": hash(sha1Of), "sha256": hash(sha256Of), "sha512": hash(sha512Of),
		"base64sha256": always1(func(s string) string { return base64.StdEncoding.EncodeToString(sha256Of([]byte(s))) }),
		"base64sha512": always1(func(s string) string { return base64.StdEncoding.EncodeToString(sha512Of([]byte(s))) }),
		"bcrypt": func(args value.Value) (value.Value, error) {
			cost := bcrypt.DefaultCost
			if args.Has("cost") {
				var err error
				if cost, err = whole(args, "cost"); err != nil {
					return value.Null, err
				}
			}
			hashed, err := bcrypt.GenerateFromPassword([]byte(textArg(args, "input")), cost)
			return value.String(string(hashed)), err
		},
		"rsadecrypt": decryptRSA,
	}
}

func md5Of(b []byte) []byte    { sum := md5.Sum(b); return sum[:] }
func sha1Of(b []byte) []byte   { sum := sha1.Sum(b); return sum[:] }
func sha256Of(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] }
func sha512Of(b []byte) []byte { sum := sha512.Sum512(b); return sum[:] }

// decryptRSA takes off an encryption with padding by PKCS #1 v1.5. No error shows any of the key.
func decryptRSA(args value.Value) (value.Value, error) {
	sealed, err := base64.StdEncoding.DecodeString(textArg(args, "cipherText"))
	if err != nil {
		return value.Null, errors.New("cipherText is not base64")
	}
	parsed, _, err := parseKey(textArg(args, "key"), "key")
	if err != nil {
		var inOpenSSH error
		if parsed, _, inOpenSSH = parseOpenSSHKey(textArg(args, "key"), "key"); inOpenSSH != nil {
			return value.Null, err
		}
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return value.Null, errors.New("key is no RSA key")
	}
	//lint:ignore SA1019 the function std:rsadecrypt is defined so
	text, err := rsa.DecryptPKCS1v15(nil, key, sealed)
	if err != nil {
		return value.Null, errors.New("cipherText cannot be decrypted with this key")
	}
	return value.String(string(text)), nil
}
