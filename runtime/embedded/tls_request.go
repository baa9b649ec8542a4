package embedded

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"net"
	"net/url"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// alternatives are the subject alternative names of a certificate.
type alternatives struct {
	dnsNames []string
	ips      []net.IP
	uris     []*url.URL
}

// checkNames returns failures for invalid IP addresses and URIs.
func checkNames(inputs value.Value) []provider.Failure {
	var failures []provider.Failure
	textsAt(inputs, "ipAddresses", func(place, text string) {
		if net.ParseIP(text) == nil {
			failures = append(failures, provider.Failure{Property: place, Reason: fmt.Sprintf("%q is not an IP address", text)})
		}
	})
	textsAt(inputs, "uris", func(place, text string) {
		if _, err := url.Parse(text); err != nil {
			failures = append(failures, provider.Failure{Property: place, Reason: fmt.Sprintf("%q is not a URI", text)})
		}
	})
	return failures
}

// alternativesOf returns the names in inputs, which checkNames has checked.
func alternativesOf(inputs value.Value) (names alternatives) {
	textsAt(inputs, "dnsNames", func(_, text string) { names.dnsNames = append(names.dnsNames, text) })
	textsAt(inputs, "ipAddresses", func(_, text string) {
		if ip := net.ParseIP(text); ip != nil {
			names.ips = append(names.ips, ip)
		}
	})
	textsAt(inputs, "uris", func(_, text string) {
		if uri, err := url.Parse(text); err == nil {
			names.uris = append(names.uris, uri)
		}
	})
	return names
}

// emailAddress is the subject attribute for an email address (PKCS #9).
var emailAddress = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}

// subjectOf returns the distinguished name in inputs. something reports whether it has an attribute.
func subjectOf(inputs value.Value) (name pkix.Name, something bool) {
	subject, _ := inputs.Lookup("subject")
	one := func(property string) []string {
		text := lookupString(subject, property)
		if text == "" {
			return nil
		}
		something = true
		return []string{text}
	}
	single := func(property string) string {
		if list := one(property); list != nil {
			return list[0]
		}
		return ""
	}
	name = pkix.Name{
		CommonName: single("commonName"), SerialNumber: single("serialNumber"), Organization: one("organization"),
		OrganizationalUnit: one("organizationalUnit"), Locality: one("locality"), Province: one("province"),
		Country: one("country"), PostalCode: one("postalCode"),
	}
	textsAt(subject, "streetAddresses", func(_, text string) {
		name.StreetAddress = append(name.StreetAddress, text)
		something = true
	})
	if email := single("emailAddress"); email != "" {
		name.ExtraNames = []pkix.AttributeTypeAndValue{{
			Type: emailAddress, Value: asn1.RawValue{Tag: asn1.TagIA5String, Bytes: []byte(email)},
		}}
	}
	return name, something
}

// request creates a CertRequest.
func (c certificates) request(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
	key, algorithm, err := parseKey(lookupString(inputs, "privateKeyPem"), "privateKeyPem")
	if err != nil {
		return "", value.Null, failed(err)
	}
	subject, _ := subjectOf(inputs)
	names := alternativesOf(inputs)
	der, err := x509.CreateCertificateRequest(c.Random, &x509.CertificateRequest{
		Subject: subject, DNSNames: names.dnsNames, IPAddresses: names.ips, URIs: names.uris,
	}, key)
	if err != nil {
		return "", value.Null, failed(fmt.Errorf("make the certificate request: %w", err))
	}
	return checksumID(der), value.MapOf(
		value.Entry{Key: "certRequestPem", Value: value.String(encodePEM(blockRequest, der))},
		value.Entry{Key: "keyAlgorithm", Value: value.String(algorithm)},
	), nil
}

// parseRequest parses a certificate request and verifies its signature.
func parseRequest(text, what string) (*x509.CertificateRequest, error) {
	der, err := decodePEM(text, blockRequest, what)
	if err != nil {
		return nil, err
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, fmt.Errorf("%s is not a certificate request: %w", what, err)
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("%s is not signed with its own key: %w", what, err)
	}
	return request, nil
}
