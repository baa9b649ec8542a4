package embedded

import (
	"context"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
)

// getCertificate describes the certificate in content, or the chain of the server at url, root first. It uses the
// network only for url.
func (c certificates) getCertificate(ctx context.Context, args value.Value) (value.Value, error) {
	chain, err := c.certificatesOf(ctx, args)
	if err != nil {
		return value.Null, failed(err)
	}
	digest := sha1.New()
	list := make([]value.Value, 0, len(chain))
	for _, certificate := range chain {
		digest.Write(certificate.Raw)
		list = append(list, describeCertificate(certificate))
	}
	id := value.String(hex.EncodeToString(digest.Sum(nil)))
	return args.With("certificates", value.List(list...)).With("id", id), nil
}

func (c certificates) certificatesOf(ctx context.Context, args value.Value) ([]*x509.Certificate, error) {
	hasContent := args.Has("content")
	switch {
	case hasContent == args.Has("url"):
		return nil, errors.New("give either content or url")
	case hasContent && args.Has("verifyChain"):
		return nil, errors.New("verifyChain is for a url: a content is not verified")
	case hasContent:
		// As in the public package, only the first certificate is described.
		certificate, err := parseCertificate(lookupString(args, "content"), "content")
		return []*x509.Certificate{certificate}, err
	}
	verify, given := lookupBool(args, "verifyChain")
	chain, err := c.fetch(ctx, lookupString(args, "url"), verify || !given)
	chain = slices.Clone(chain)
	slices.Reverse(chain)
	return chain, err
}

func describeCertificate(certificate *x509.Certificate) value.Value {
	sum := sha1.Sum(certificate.Raw)
	path := -1
	if certificate.IsCA {
		path = certificate.MaxPathLen
	}
	return value.MapOf(
		value.Entry{Key: "certPem", Value: value.String(encodePEM(blockCertificate, certificate.Raw))},
		value.Entry{Key: "isCa", Value: value.Bool(certificate.IsCA)},
		value.Entry{Key: "issuer", Value: value.String(certificate.Issuer.String())},
		value.Entry{Key: "maxPathLength", Value: value.Int(path)},
		value.Entry{Key: "notAfter", Value: value.String(certificate.NotAfter.Format(time.RFC3339))},
		value.Entry{Key: "notBefore", Value: value.String(certificate.NotBefore.Format(time.RFC3339))},
		value.Entry{Key: "publicKeyAlgorithm", Value: value.String(certificate.PublicKeyAlgorithm.String())},
		value.Entry{Key: "serialNumber", Value: value.String(certificate.SerialNumber.String())},
		value.Entry{Key: "sha1Fingerprint", Value: value.String(hex.EncodeToString(sum[:]))},
		value.Entry{Key: "signatureAlgorithm", Value: value.String(certificate.SignatureAlgorithm.String())},
		value.Entry{Key: "subject", Value: value.String(certificate.Subject.String())},
		value.Entry{Key: "version", Value: value.Int(certificate.Version)},
	)
}

// proxySettings is the provider's setting proxy.
type proxySettings struct {
	set bool
	url *url.URL // nil to take it from the environment
}

// proxyFrom reads the setting proxy from the provider's inputs: a map, or its JSON text.
func proxyFrom(inputs value.Value) (proxySettings, error) {
	given, _ := inputs.Lookup("proxy")
	if text, ok := given.AsString(); ok && text != "" {
		parsed, err := value.FromJSON(text)
		if err != nil {
			return proxySettings{}, failed(errors.New("the setting tls:proxy must be a map"))
		}
		given = parsed
	}
	if !given.Is(value.KindMap) || given.Len() == 0 {
		return proxySettings{}, nil
	}
	address, user, password := lookupString(given, "url"), lookupString(given, "username"), lookupString(given, "password")
	if address == "" {
		return proxySettings{set: !given.Has("fromEnv") || !knownFalse(given, "fromEnv")}, nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, parsed.Scheme) {
		return proxySettings{}, failed(errors.New(
			"the setting tls:proxy needs a url that begins with http://, https:// or socks5://"))
	}
	if user != "" {
		parsed.User = url.UserPassword(user, password)
	}
	return proxySettings{set: true, url: parsed}, nil
}
