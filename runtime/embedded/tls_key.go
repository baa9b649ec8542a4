package embedded

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The names of key algorithms, in inputs and outputs.
const (
	algorithmRSA     = "RSA"
	algorithmECDSA   = "ECDSA"
	algorithmED25519 = "ED25519"
)

// The types of PEM blocks.
const (
	blockRSAKey      = "RSA PRIVATE KEY"
	blockECKey       = "EC PRIVATE KEY"
	blockKey         = "PRIVATE KEY" // PKCS #8
	blockPublicKey   = "PUBLIC KEY"
	blockCertificate = "CERTIFICATE"
	blockRequest     = "CERTIFICATE REQUEST"
)

// Limits for the size of RSA keys: crypto/rsa refuses smaller keys, and generating larger keys takes minutes.
const leastRSABits, mostRSABits = 1024, 16384

func checkPrivateKey(inputs value.Value) []provider.Failure {
	failures := checkOneOf(inputs, "algorithm", []string{algorithmRSA, algorithmECDSA, algorithmED25519})
	failures = append(failures, checkOneOf(inputs, "ecdsaCurve", []string{"P224", "P256", "P384", "P521"})...)
	return append(failures, checkWhole(inputs, "rsaBits", leastRSABits, mostRSABits)...)
}

// withKeyDefaults adds the default size and curve. As in the public package, every key has both.
func withKeyDefaults(inputs value.Value) value.Value {
	return overlay(value.MapOf(
		value.Entry{Key: "rsaBits", Value: value.Int(2048)}, value.Entry{Key: "ecdsaCurve", Value: value.String("P224")},
	), inputs)
}

// privateKey creates a PrivateKey. RSA and ECDSA keys ignore Options.Random, because Go's packages always use the
// system's random bytes.
func (c certificates) privateKey(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value,
	error) {
	var key crypto.Signer
	var err error
	switch lookupString(inputs, "algorithm") {
	case algorithmRSA:
		key, err = rsa.GenerateKey(c.Random, wholeOf(inputs, "rsaBits"))
	case algorithmECDSA:
		curves := map[string]elliptic.Curve{"P224": elliptic.P224(), "P256": elliptic.P256(), "P384": elliptic.P384(),
			"P521": elliptic.P521()}
		key, err = ecdsa.GenerateKey(curves[lookupString(inputs, "ecdsaCurve")], c.Random)
	case algorithmED25519:
		var seed []byte
		if seed, err = c.fill(ed25519.SeedSize); err == nil {
			key = ed25519.NewKeyFromSeed(seed)
		}
	}
	if err != nil {
		return "", value.Null, failed(fmt.Errorf("make the key: %w", err))
	}
	id, outputs, err := keyOutputs(key)
	if err != nil {
		return "", value.Null, failed(err)
	}
	return id, outputs.With(schemaNote, value.String(tlsSchemaNote)), nil
}

// keyOutputs returns the ID and all forms of a private key and its public key.
func keyOutputs(key crypto.Signer) (string, value.Value, error) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", value.Null, fmt.Errorf("encode the key: %w", err)
	}
	traditional := encodePEM(blockKey, pkcs8)
	switch key := key.(type) {
	case *rsa.PrivateKey:
		traditional = encodePEM(blockRSAKey, x509.MarshalPKCS1PrivateKey(key))
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			return "", value.Null, fmt.Errorf("encode the key: %w", err)
		}
		traditional = encodePEM(blockECKey, der)
	}
	// OpenSSH does not support the curve P-224; its outputs are empty then.
	openSSH := ""
	if block, err := ssh.MarshalPrivateKey(key, ""); err == nil {
		openSSH = string(pem.EncodeToMemory(block))
	}
	id, outputs, err := publicKeyOutputs(key.Public())
	if err != nil {
		return "", value.Null, err
	}
	return id, overlay(outputs, value.MapOf(
		value.Entry{Key: "privateKeyPem", Value: value.String(traditional)},
		value.Entry{Key: "privateKeyPemPkcs8", Value: value.String(encodePEM(blockKey, pkcs8))},
		value.Entry{Key: "privateKeyOpenssh", Value: value.String(openSSH)},
	)), nil
}

// publicKeyOutputs returns the ID and all forms of a public key. The ID is the checksum of the DER encoding.
func publicKeyOutputs(key crypto.PublicKey) (string, value.Value, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", value.Null, fmt.Errorf("encode the public key: %w", err)
	}
	line, md5, sha256 := "", "", ""
	if public, err := ssh.NewPublicKey(key); err == nil {
		line, md5, sha256 = string(ssh.MarshalAuthorizedKey(public)), ssh.FingerprintLegacyMD5(public),
			ssh.FingerprintSHA256(public)
	}
	return checksumID(der), value.MapOf(
		value.Entry{Key: "publicKeyPem", Value: value.String(encodePEM(blockPublicKey, der))},
		value.Entry{Key: "publicKeyOpenssh", Value: value.String(line)},
		value.Entry{Key: "publicKeyFingerprintMd5", Value: value.String(md5)},
		value.Entry{Key: "publicKeyFingerprintSha256", Value: value.String(sha256)},
	), nil
}

// checksumID returns the ID for a content as the public package computes it: the SHA-1 without leading and trailing
// white space, which binary content may have by chance (TestChecksumID).
func checksumID(content []byte) string {
	sum := sha1.Sum(bytes.TrimSpace(content))
	return hex.EncodeToString(sum[:])
}

// parseKey parses a PEM private key and returns its algorithm too. The parameters of a curve may precede the key, as
// openssl writes them. Errors do not contain any of the text.
func parseKey(text, what string) (crypto.Signer, string, error) {
	for rest := []byte(text); ; {
		block, after := pem.Decode(rest)
		if block == nil {
			return nil, "", fmt.Errorf("%s is not a private key in the PEM format", what)
		}
		var key any
		var err error
		switch block.Type {
		case "EC PARAMETERS":
			rest = after
			continue
		case blockRSAKey:
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case blockECKey:
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case blockKey:
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, "", fmt.Errorf("%s is encrypted; take the encryption off first", what)
		default:
			return nil, "", fmt.Errorf("%s must begin with -----BEGIN %s-----, %s or %s, not with -----BEGIN %s-----",
				what, blockKey, blockRSAKey, blockECKey, block.Type)
		}
		if err != nil || block.Headers["DEK-Info"] != "" {
			return nil, "", fmt.Errorf("%s is damaged or encrypted: its %s cannot be read", what, block.Type)
		}
		return signerOf(key, what)
	}
}

// parseOpenSSHKey parses a private key in the OpenSSH format and returns its algorithm too.
func parseOpenSSHKey(text, what string) (crypto.Signer, string, error) {
	key, err := ssh.ParseRawPrivateKey([]byte(text))
	switch {
	case errors.As(err, new(*ssh.PassphraseMissingError)):
		return nil, "", fmt.Errorf("%s is encrypted; take the passphrase off first", what)
	case err != nil:
		return nil, "", fmt.Errorf("%s is not a private key in the form of OpenSSH", what)
	}
	return signerOf(key, what)
}

func signerOf(key any, what string) (crypto.Signer, string, error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, algorithmRSA, nil
	case *ecdsa.PrivateKey:
		return key, algorithmECDSA, nil
	case ed25519.PrivateKey:
		return key, algorithmED25519, nil
	case *ed25519.PrivateKey:
		return *key, algorithmED25519, nil
	}
	return nil, "", fmt.Errorf("%s is a key of another algorithm than %s, %s and %s", what, algorithmRSA, algorithmECDSA,
		algorithmED25519)
}

// getPublicKey derives the public key of a private key in the PEM or OpenSSH format.
func getPublicKey(_ context.Context, args value.Value) (value.Value, error) {
	hasPEM := args.Has("privateKeyPem")
	if hasPEM == args.Has("privateKeyOpenssh") {
		return value.Null, failed(errors.New("give either privateKeyPem or privateKeyOpenssh"))
	}
	var key crypto.Signer
	var algorithm string
	var err error
	if hasPEM {
		key, algorithm, err = parseKey(lookupString(args, "privateKeyPem"), "privateKeyPem")
	} else {
		key, algorithm, err = parseOpenSSHKey(lookupString(args, "privateKeyOpenssh"), "privateKeyOpenssh")
	}
	if err != nil {
		return value.Null, failed(err)
	}
	id, outputs, err := publicKeyOutputs(key.Public())
	if err != nil {
		return value.Null, failed(err)
	}
	outputs = outputs.With("algorithm", value.String(algorithm)).With("id", value.String(id))
	for _, name := range [...]string{"privateKeyPem", "privateKeyOpenssh"} {
		if v, given := args.Lookup(name); given {
			outputs = outputs.With(name, v.Secret())
		}
	}
	return outputs, nil
}
