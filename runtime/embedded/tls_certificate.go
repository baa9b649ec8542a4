package embedded

import (
	"context"
	"crypto"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// keyUses and extendedKeyUses are the allowed uses of a certificate's key (RFC 5280, sections 4.2.1.3 and 4.2.1.12).
var (
	keyUses = map[string]x509.KeyUsage{
		"digital_signature": x509.KeyUsageDigitalSignature, "content_commitment": x509.KeyUsageContentCommitment,
		"key_encipherment": x509.KeyUsageKeyEncipherment, "data_encipherment": x509.KeyUsageDataEncipherment,
		"key_agreement": x509.KeyUsageKeyAgreement, "cert_signing": x509.KeyUsageCertSign,
		"crl_signing":   x509.KeyUsageCRLSign,
		"encipher_only": x509.KeyUsageEncipherOnly, "decipher_only": x509.KeyUsageDecipherOnly,
	}
	extendedKeyUses = map[string]x509.ExtKeyUsage{
		"any_extended": x509.ExtKeyUsageAny, "server_auth": x509.ExtKeyUsageServerAuth,
		"client_auth":  x509.ExtKeyUsageClientAuth,
		"code_signing": x509.ExtKeyUsageCodeSigning, "email_protection": x509.ExtKeyUsageEmailProtection,
		"ipsec_end_system": x509.ExtKeyUsageIPSECEndSystem, "ipsec_tunnel": x509.ExtKeyUsageIPSECTunnel,
		"ipsec_user": x509.ExtKeyUsageIPSECUser, "timestamping": x509.ExtKeyUsageTimeStamping,
		"ocsp_signing":                      x509.ExtKeyUsageOCSPSigning,
		"microsoft_server_gated_crypto":     x509.ExtKeyUsageMicrosoftServerGatedCrypto,
		"netscape_server_gated_crypto":      x509.ExtKeyUsageNetscapeServerGatedCrypto,
		"microsoft_commercial_code_signing": x509.ExtKeyUsageMicrosoftCommercialCodeSigning,
		"microsoft_kernel_code_signing":     x509.ExtKeyUsageMicrosoftKernelCodeSigning,
	}
)

// mostHours is the largest time.Duration in hours, about 292 years.
const mostHours = float64(math.MaxInt64 / int64(time.Hour))

func checkCertificate(inputs value.Value) []provider.Failure {
	allowed := slices.Sorted(maps.Keys(extendedKeyUses))
	allowed = slices.AppendSeq(allowed, maps.Keys(keyUses))
	slices.Sort(allowed)
	var failures []provider.Failure
	textsAt(inputs, "allowedUses", func(place, text string) {
		for _, failure := range checkOneOf(value.MapOf(value.Entry{Key: "use", Value: value.String(text)}), "use", allowed) {
			failures = append(failures, provider.Failure{Property: place, Reason: failure.Reason})
		}
	})
	failures = append(failures, checkWhole(inputs, "validityPeriodHours", 0, mostHours)...)
	failures = append(failures, checkWhole(inputs, "earlyRenewalHours", 0, mostHours)...)
	return append(failures, checkWhole(inputs, "maxPathLength", -1, math.MaxInt32)...)
}

func checkSelfSigned(inputs value.Value) []provider.Failure {
	failures := append(checkCertificate(inputs), checkNames(inputs)...)
	subject, _ := inputs.Lookup("subject")
	if _, something := subjectOf(inputs); boolOf(inputs, "isCaCertificate") && !something && !subject.ContainsUnknown() {
		failures = append(failures, provider.Failure{Property: "subject", Reason: noSubject})
	}
	if boolOf(inputs, "setAuthorityKeyId") && knownFalse(inputs, "setSubjectKeyId") &&
		knownFalse(inputs, "isCaCertificate") {
		failures = append(failures, provider.Failure{Property: "setAuthorityKeyId",
			Reason: "a self-signed certificate is its own authority: set setSubjectKeyId too"})
	}
	return failures
}

const noSubject = "the certificate of an authority must name it: give the subject at least one member"

// knownFalse reports whether a boolean is false or absent.
func knownFalse(inputs value.Value, property string) bool {
	v, given := inputs.Lookup(property)
	b, known := v.AsBool()
	return !given || known && !b
}

func withCertificateDefaults(inputs value.Value) value.Value {
	return overlay(value.MapOf(
		value.Entry{Key: "earlyRenewalHours", Value: value.Int(0)},
		value.Entry{Key: "isCaCertificate", Value: value.Bool(false)},
		value.Entry{Key: "maxPathLength", Value: value.Int(-1)}, value.Entry{Key: "setSubjectKeyId",
			Value: value.Bool(false)},
	), inputs)
}

func withSelfSignedDefaults(inputs value.Value) value.Value {
	disabled := value.MapOf(value.Entry{Key: "setAuthorityKeyId", Value: value.Bool(false)})
	return overlay(disabled, withCertificateDefaults(withPlainSubject(inputs)))
}

// selfSigned creates a certificate that is signed with its own key.
func (c certificates) selfSigned(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value,
	error) {
	key, algorithm, err := parseKey(lookupString(inputs, "privateKeyPem"), "privateKeyPem")
	if err != nil {
		return "", value.Null, failed(err)
	}
	names := alternativesOf(inputs)
	template := &x509.Certificate{DNSNames: names.dnsNames, IPAddresses: names.ips, URIs: names.uris}
	template.Subject, _ = subjectOf(inputs)
	if err := c.fillTemplate(template, inputs, key.Public()); err != nil {
		return "", value.Null, failed(err)
	}
	if boolOf(inputs, "setAuthorityKeyId") {
		template.AuthorityKeyId = template.SubjectKeyId
	}
	id, outputs, err := c.sign(template, template, key.Public(), key)
	return id, outputs.With("keyAlgorithm", value.String(algorithm)), err
}

// locallySigned creates a certificate for a request, signed with the key of an authority.
func (c certificates) locallySigned(_ context.Context, s provider.Subject, inputs value.Value) (string, value.Value,
	error) {
	request, err := parseRequest(lookupString(inputs, "certRequestPem"), "certRequestPem")
	if err != nil {
		return "", value.Null, failed(err)
	}
	key, algorithm, err := parseKey(lookupString(inputs, "caPrivateKeyPem"), "caPrivateKeyPem")
	if err != nil {
		return "", value.Null, failed(err)
	}
	authority, err := parseCertificate(lookupString(inputs, "caCertPem"), "caCertPem")
	if err != nil {
		return "", value.Null, failed(err)
	}
	if public, ok := authority.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); !ok ||
		!public.Equal(key.Public()) {
		return "", value.Null, failed(errors.New("caPrivateKeyPem is not the key of caCertPem"))
	}
	if !authority.IsCA && c.Log != nil {
		c.Log(LogLine{URN: s.URN, Stderr: true,
			Text: "caCertPem is not the certificate of an authority: nothing that it signs can be trusted"})
	}
	// RawSubject also keeps attributes that pkix.Name has no fields for.
	template := &x509.Certificate{
		RawSubject: request.RawSubject, Subject: request.Subject, DNSNames: request.DNSNames,
		IPAddresses: request.IPAddresses,
		URIs:        request.URIs, EmailAddresses: request.EmailAddresses,
	}
	if err := c.fillTemplate(template, inputs, request.PublicKey); err != nil {
		return "", value.Null, failed(err)
	}
	id, outputs, err := c.sign(template, authority, request.PublicKey, key)
	return id, outputs.With("caKeyAlgorithm", value.String(algorithm)), err
}

// fillTemplate sets the fields that self-signed and locally signed certificates have in common.
func (c certificates) fillTemplate(template *x509.Certificate, inputs value.Value, public crypto.PublicKey) error {
	serial, err := c.fill(16)
	if err != nil {
		return err
	}
	template.SerialNumber = new(big.Int).SetBytes(serial)
	template.NotBefore = c.Now().UTC().Truncate(time.Second)
	template.NotAfter = template.NotBefore.Add(time.Duration(wholeOf(inputs, "validityPeriodHours")) * time.Hour)
	template.BasicConstraintsValid = true
	textsAt(inputs, "allowedUses", func(_, use string) {
		template.KeyUsage |= keyUses[use]
		if extended, ok := extendedKeyUses[use]; ok {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		}
	})
	if template.IsCA = boolOf(inputs, "isCaCertificate"); template.IsCA {
		if len(template.Subject.ToRDNSequence()) == 0 {
			return errors.New(noSubject)
		}
		// Only authorities have a maximum path length. For crypto/x509, 0 means none unless MaxPathLenZero is set.
		if n, given := lookupInt(inputs, "maxPathLength"); given && n >= 0 {
			template.MaxPathLen, template.MaxPathLenZero = n, n == 0
		}
	}
	if template.IsCA || boolOf(inputs, "setSubjectKeyId") {
		template.SubjectKeyId, err = keyIdentifier(public)
	}
	return err
}

// keyIdentifier returns the SHA-1 of a public key's bit string (RFC 5280, section 4.2.1.2, method 1).
func keyIdentifier(public crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	var frame struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &frame); err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	sum := sha1.Sum(frame.Key.Bytes)
	return sum[:], nil
}

// sign creates the certificate. The ID is the serial number.
func (c certificates) sign(template, authority *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (string,
	value.Value, error) {
	der, err := x509.CreateCertificate(c.Random, template, authority, public, key)
	if err != nil {
		return "", value.EmptyMap(), failed(fmt.Errorf("make the certificate: %w", err))
	}
	return template.SerialNumber.String(), value.MapOf(
		value.Entry{Key: "certPem", Value: value.String(encodePEM(blockCertificate, der))},
		value.Entry{Key: "readyForRenewal", Value: value.Bool(false)},
		value.Entry{Key: "validityStartTime", Value: value.String(template.NotBefore.Format(time.RFC3339))},
		value.Entry{Key: "validityEndTime", Value: value.String(template.NotAfter.Format(time.RFC3339))},
	), nil
}

func parseCertificate(text, what string) (*x509.Certificate, error) {
	der, err := decodePEM(text, blockCertificate, what)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s is not a certificate: %w", what, err)
	}
	return certificate, nil
}

// renewable returns the name of the output readyForRenewal if the certificate has to be renewed, and "" if not. The
// time for renewal is earlyRenewalHours before the certificate ends.
func (c certificates) renewable(inputs, outputs value.Value) string {
	end, err := time.Parse(time.RFC3339, lookupString(outputs, "validityEndTime"))
	if err != nil {
		return ""
	}
	early := time.Duration(min(max(wholeOf(inputs, "earlyRenewalHours"), 0), int(mostHours))) * time.Hour
	if c.Now().Before(end.Add(-early)) {
		return ""
	}
	return "readyForRenewal"
}

// readCertificate sets readyForRenewal if the certificate has to be renewed now.
func (c certificates) readCertificate(outputs value.Value) (value.Value, bool) {
	if c.renewable(outputs, outputs) != "" {
		outputs = outputs.With("readyForRenewal", value.Bool(true))
	}
	return outputs, true
}
