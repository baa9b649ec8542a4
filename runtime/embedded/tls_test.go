package embedded

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const (
	keyType        = "tls:index/privateKey:PrivateKey"
	requestType    = "tls:index/certRequest:CertRequest"
	selfSignedType = "tls:index/selfSignedCert:SelfSignedCert"
	signedType     = "tls:index/locallySignedCert:LocallySignedCert"
)

// someKey was made with openssl, like all files in testdata/tls. Expected values come from openssl and ssh-keygen.
var someKey = struct{ private, certificate, request string }{
	sample("ed25519.pem"), sample("authority.pem"), sample("request.pem"),
}

func sample(name string) string {
	data, err := os.ReadFile(filepath.Join("testdata", "tls", name))
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestPrivateKey(t *testing.T) {
	t.Parallel()
	r := configure(t, "tls", Options{})
	for _, c := range []struct {
		name, traditional, line string
		inputs                  value.Value
		bits                    int
		curve                   string
	}{
		{"RSA", "RSA PRIVATE KEY", "ssh-rsa ", obj("algorithm", "RSA", "rsaBits", 1024), 1024, "P224"},
		{"a curve by default, which OpenSSH does not know", "EC PRIVATE KEY", "", obj("algorithm", "ECDSA"), 2048, "P224"},
		{"P256", "EC PRIVATE KEY", "ecdsa-sha2-nistp256 ", obj("algorithm", "ECDSA", "ecdsaCurve", "P256"), 2048, "P256"},
		{"P384", "EC PRIVATE KEY", "ecdsa-sha2-nistp384 ", obj("algorithm", "ECDSA", "ecdsaCurve", "P384"), 2048, "P384"},
		{"P521", "EC PRIVATE KEY", "ecdsa-sha2-nistp521 ", obj("algorithm", "ECDSA", "ecdsaCurve", "P521"), 2048, "P521"},
		{"ED25519", "PRIVATE KEY", "ssh-ed25519 ", obj("algorithm", "ED25519"), 2048, "P224"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id, outputs := r.create(keyType, c.inputs)
			require.Equal(t, id, text(outputs, "id"))
			require.Equal(t, tlsSchemaNote, text(outputs, schemaNote))
			require.Equal(t, c.curve, text(outputs, "ecdsaCurve"))
			bits, _ := lookupInt(outputs, "rsaBits")
			require.Equal(t, c.bits, bits)
			block, rest := pem.Decode([]byte(text(outputs, "privateKeyPem")))
			require.Equal(t, c.traditional, block.Type)
			require.Empty(t, rest)
			// All outputs describe the same key.
			for _, name := range []string{"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"} {
				require.True(t, at(outputs, name).IsSecret(), name)
				if c.line == "" && name == "privateKeyOpenssh" {
					require.Empty(t, text(outputs, name))
					continue
				}
				argument := "privateKeyPem"
				if name == "privateKeyOpenssh" {
					argument = name
				}
				public, err := r.Invoke(t.Context(), provider.InvokeRequest{
					Token: "tls:index/getPublicKey:getPublicKey", Args: obj(argument, text(outputs, name))})
				require.NoError(t, err)
				for _, same := range []string{"id", "publicKeyPem", "publicKeyOpenssh", "publicKeyFingerprintMd5",
					"publicKeyFingerprintSha256", "algorithm"} {
					require.Equal(t, text(outputs, same), text(public.Result, same), "%s of %s", same, name)
				}
				require.True(t, at(public.Result, argument).IsSecret())
			}
			require.True(t, strings.HasPrefix(text(outputs, "publicKeyOpenssh"), c.line))
			require.Equal(t, c.line == "", text(outputs, "publicKeyFingerprintSha256") == "")
			// Every change requires another key.
			diff := r.diff(keyType, c.inputs, outputs, obj("algorithm", "ED25519", "ecdsaCurve", "P384"))
			require.True(t, diff.Replace())
		})
	}
}

// TestPublicKey compares IDs and fingerprints to those of openssl and ssh-keygen for the same keys.
func TestPublicKey(t *testing.T) {
	t.Parallel()
	r := configure(t, "tls", Options{})
	for _, c := range []struct{ name, id, sha256, md5 string }{
		{"rsa", "56cf9b4a33d6f1fc4ed3d3aab8886ec358d182df", "SHA256:TVldGRJPQfNrHM9CTMM1GkIus74+mJ27GWJvMQRW+Rs",
			"63:b0:25:3c:9a:1c:20:fc:ed:68:eb:a2:d3:fc:80:b7"},
		{"p256", "5c2056dce071a844f0f8b08c5f4ab7ef223b1087", "SHA256:eeUhYTMDzkitGOdLjMhJMRn1VfepDzSdBhYQM1uzJfs",
			"d4:e3:55:9d:1f:f7:c1:79:5b:91:f8:03:03:43:ac:7a"},
		{"p224", "5885434f06977fd6b2a9cd7924348a79bf92bd09", "", ""},
	} {
		response, err := r.Invoke(t.Context(), provider.InvokeRequest{
			Token: "tls:index/getPublicKey:getPublicKey", Args: obj("privateKeyPem", sample(c.name+".pem"))})
		require.NoError(t, err, c.name)
		require.Equal(t, c.id, text(response.Result, "id"))
		require.Equal(t, sample(c.name+".pub.pem"), text(response.Result, "publicKeyPem"))
		require.Equal(t, c.sha256, text(response.Result, "publicKeyFingerprintSha256"))
		require.Equal(t, c.md5, text(response.Result, "publicKeyFingerprintMd5"))
		if c.md5 != "" {
			require.Equal(t, sample(c.name+".ssh"), text(response.Result, "publicKeyOpenssh"))
		}
	}
	response, err := r.Invoke(t.Context(), provider.InvokeRequest{
		Token: "tls:index/getPublicKey:getPublicKey", Args: obj("privateKeyOpenssh", sample("ed25519.openssh"))})
	require.NoError(t, err)
	require.Equal(t, "SHA256:1zVOt8aC3TgojSwj1FSbiblH0F3rwA6rBzziDnmpX1E",
		text(response.Result, "publicKeyFingerprintSha256"))

	for _, c := range []struct {
		args value.Value
		why  string
	}{
		{obj(), "either"}, {obj("privateKeyPem", "x", "privateKeyOpenssh", "y"), "either"},
		{obj("privateKeyPem", "x"), "not a private key"}, {obj("privateKeyPem", sample("authority.pem")), "must begin with"},
		{obj("privateKeyPem", sample("locked.pem")), "encrypted"}, {obj("privateKeyOpenssh", sample("locked.openssh")),
			"passphrase"},
		{obj("privateKeyOpenssh", "x"), "form of OpenSSH"},
		{obj("privateKeyPem", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"), "cannot be read"},
	} {
		_, err := r.Invoke(t.Context(), provider.InvokeRequest{Token: "tls:index/getPublicKey:getPublicKey", Args: c.args})
		require.ErrorContains(t, err, c.why)
		require.NotContains(t, err.Error(), "c2VjcmV0")
	}
}

// TestChecksumID expects the IDs of the public package. They omit the last byte of this request because it is a line
// break.
func TestChecksumID(t *testing.T) {
	t.Parallel()
	block, _ := pem.Decode([]byte(someKey.request))
	require.Equal(t, "c7ae134925e9ac3155af21d2fd17af0ffaa9cd22", checksumID(block.Bytes))
	require.Equal(t, checksumID([]byte("a")), checksumID([]byte("a\n")))
}

func fullSubject() value.Value {
	return obj("commonName", "service.test", "organization", "Ours", "organizationalUnit", "Tests", "locality", "Here",
		"province", "There",
		"country", "DE", "postalCode", "12345", "serialNumber", "7", "streetAddresses", []string{"First 1", "Second 2"},
		"emailAddress", "a@b.test")
}

func TestCertRequest(t *testing.T) {
	t.Parallel()
	r := configure(t, "tls", Options{})
	inputs := obj("privateKeyPem", sample("p256.pem"), "subject", fullSubject(), "dnsNames",
		[]string{"a.test", "*.b.test"}, "ipAddresses", []string{"10.0.0.1", "::1"}, "uris", []string{"spiffe://a.test/x"})
	id, outputs := r.create(requestType, inputs)
	request, err := parseRequest(text(outputs, "certRequestPem"), "it")
	require.NoError(t, err)
	require.Equal(t, checksumID(request.Raw), id)
	require.Equal(t, "ECDSA", text(outputs, "keyAlgorithm"))
	require.Contains(t, strings.ReplaceAll(request.Subject.String(), "+", ","), "STREET=First 1,STREET=Second 2")
	require.Contains(t, request.Subject.String(), "SERIALNUMBER=7,CN=service.test,OU=Tests,O=Ours,POSTALCODE=12345")
	require.Equal(t, []string{"a.test", "*.b.test"}, request.DNSNames)
	require.Len(t, request.IPAddresses, 2)
	require.Equal(t, "spiffe://a.test/x", request.URIs[0].String())
	require.True(t, at(outputs, "privateKeyPem").IsSecret())

	for name, news := range map[string]value.Value{
		"names": inputs.With("dnsNames", value.List()), "key": inputs.With("privateKeyPem", value.String(sample("rsa.pem"))),
		"subject": inputs.With("subject", obj("commonName", "x")),
	} {
		require.True(t, r.diff(requestType, inputs, outputs, news).Replace(), name)
	}
	same := inputs.With("subject", fullSubject().With("locality", value.String("Here")))
	require.Equal(t, provider.DiffNone, r.diff(requestType, inputs, outputs, same).Changes)
	_, plain := r.create(requestType, obj("privateKeyPem", someKey.private, "subject",
		obj("commonName", "x", "country", "")))
	require.Equal(t, provider.DiffNone, r.diff(requestType, obj(), plain, obj("privateKeyPem", someKey.private, "subject",
		obj("commonName", "x"))).Changes)
	// Releases of the public package before 4 recorded a digest of the key instead.
	digest := outputs.With("privateKeyPem", value.String("0cc175b9c0f1b6a831c399e269772661"))
	require.False(t, r.diff(requestType, inputs, digest, inputs).Replace())
}

func TestCertificateChain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	r := configure(t, "tls", Options{Now: func() time.Time { return now }})
	authorityInputs := obj("privateKeyPem", sample("p256.pem"), "subject", obj("commonName", "authority"),
		"isCaCertificate", true,
		"setAuthorityKeyId", true, "maxPathLength", 0, "validityPeriodHours", 48, "allowedUses",
		[]string{"cert_signing", "crl_signing"})
	authorityID, authority := r.create(selfSignedType, authorityInputs)
	root, err := parseCertificate(text(authority, "certPem"), "it")
	require.NoError(t, err)
	require.Equal(t, root.SerialNumber.String(), authorityID)
	require.True(t, root.IsCA && root.MaxPathLenZero)
	require.Equal(t, root.SubjectKeyId, root.AuthorityKeyId)
	require.Len(t, root.SubjectKeyId, 20)
	require.Equal(t, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, root.KeyUsage)
	require.Equal(t, "2026-03-01T12:00:00Z", text(authority, "validityStartTime"))
	require.Equal(t, "2026-03-03T12:00:00Z", text(authority, "validityEndTime"))
	require.Equal(t, "ECDSA", text(authority, "keyAlgorithm"))

	_, request := r.create(requestType, obj("privateKeyPem", sample("rsa.pem"), "subject", fullSubject(), "dnsNames",
		[]string{"service.test"}))
	inputs := obj("caPrivateKeyPem", sample("p256.pem"), "caCertPem", text(authority, "certPem"), "certRequestPem",
		text(request, "certRequestPem"),
		"validityPeriodHours", 24, "allowedUses", []string{"digital_signature", "server_auth", "client_auth"},
		"setSubjectKeyId", true)
	_, outputs := r.create(signedType, inputs)
	leaf, err := parseCertificate(text(outputs, "certPem"), "it")
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "service.test", CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	require.NoError(t, err)
	require.Equal(t, root.SubjectKeyId, leaf.AuthorityKeyId)
	require.Equal(t, root.RawSubject, leaf.RawIssuer)
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, leaf.ExtKeyUsage)
	asked, err := parseRequest(text(request, "certRequestPem"), "it")
	require.NoError(t, err)
	require.Equal(t, asked.RawSubject, leaf.RawSubject, "the subject is taken over as it is, with the address in it")
	require.Equal(t, "ECDSA", text(outputs, "caKeyAlgorithm"))

	for _, c := range []struct{ name, property, text, why string }{
		{"the authority's key is another", "caPrivateKeyPem", sample("rsa.pem"), "not the key of"},
		{"the request is a certificate", "certRequestPem", someKey.certificate, "must begin with"},
		{"the authority is not PEM", "caCertPem", "x", "not in the PEM"},
		{"the authority is damaged", "caCertPem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
			"not a certificate"},
		{"the key is not PEM", "caPrivateKeyPem", "x", "not a private key"},
	} {
		_, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(signedType),
			Inputs: inputs.With(c.property, value.String(c.text))})
		require.ErrorContains(t, err, c.why, c.name)
	}
	_, err = r.Create(t.Context(), provider.CreateRequest{Subject: subject(signedType),
		Inputs: obj("caPrivateKeyPem", someKey.private,
			"caCertPem", someKey.certificate, "certRequestPem", noSubjectRequest(t, r), "validityPeriodHours", 1,
			"isCaCertificate", true, "allowedUses", []string{})})
	require.ErrorContains(t, err, "must name it")
}

func noSubjectRequest(t *testing.T, r rig) string {
	t.Helper()
	_, outputs := r.create(requestType, obj("privateKeyPem", someKey.private))
	return text(outputs, "certRequestPem")
}

// Signing with a certificate that is not an authority's succeeds with a warning.
func TestSignedByNoAuthority(t *testing.T) {
	t.Parallel()
	lines := make(chan LogLine, 1)
	r := configure(t, "tls", Options{Log: func(l LogLine) { lines <- l }})
	_, leaf := r.create(selfSignedType, obj("privateKeyPem", someKey.private, "subject", obj("commonName", "x"),
		"validityPeriodHours", 1, "allowedUses", []string{}))
	r.create(signedType, obj("caPrivateKeyPem", someKey.private, "caCertPem", text(leaf, "certPem"), "certRequestPem",
		someKey.request, "validityPeriodHours", 1, "allowedUses", []string{}))
	require.Contains(t, (<-lines).Text, "not the certificate of an authority")
}

func TestCertificateRenewal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	r := configure(t, "tls", Options{Now: func() time.Time { return now }})
	inputs := obj("privateKeyPem", someKey.private, "subject", obj("commonName", "x"), "validityPeriodHours", 48,
		"earlyRenewalHours", 12, "allowedUses", []string{})
	_, outputs := r.create(selfSignedType, inputs)
	read := func() bool {
		response, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(selfSignedType), ID: "x", Inputs: inputs,
			Outputs: outputs})
		require.NoError(t, err)
		return boolOf(response.Outputs, "readyForRenewal")
	}

	now = now.Add(36*time.Hour - time.Second)
	require.Equal(t, provider.DiffNone, r.diff(selfSignedType, inputs, outputs, inputs).Changes)
	require.False(t, read())
	now = now.Add(time.Second)
	diff := r.diff(selfSignedType, inputs, outputs, inputs)
	require.Equal(t, []string{"readyForRenewal"}, diff.Replaces)
	require.Equal(t, provider.PropertyDiff{Kind: provider.DiffUpdateReplace}, diff.Detailed["readyForRenewal"])
	require.True(t, read())

	// A changed renewal time alone is an update in place and takes effect at once.
	later := inputs.With("earlyRenewalHours", value.Int(1))
	diff = r.diff(selfSignedType, inputs, outputs, later)
	require.False(t, diff.Replace())
	require.Equal(t, []string{"earlyRenewalHours"}, diff.Diffs)
	updated, err := r.Update(t.Context(), provider.UpdateRequest{Subject: subject(selfSignedType), ID: "x",
		OldInputs: inputs, OldOutputs: outputs, News: later})
	require.NoError(t, err)
	require.Equal(t, text(outputs, "certPem"), text(updated.Outputs, "certPem"))
	require.Equal(t, provider.DiffNone, r.diff(selfSignedType, later, updated.Outputs, later).Changes)
	for name, news := range map[string]value.Value{
		"validityPeriodHours": inputs.With("validityPeriodHours", value.Int(47)), "allowedUses": inputs.With("allowedUses",
			value.List(value.String("server_auth"))),
		"isCaCertificate": inputs.With("isCaCertificate", value.Bool(true)), "maxPathLength": inputs.With("maxPathLength",
			value.Int(1)),
	} {
		require.Contains(t, r.diff(selfSignedType, later, updated.Outputs, news).Replaces, name)
	}
}

func TestTLSFaults(t *testing.T) {
	t.Parallel()
	certificate := obj("privateKeyPem", someKey.private, "validityPeriodHours", 1, "allowedUses", []string{})
	for _, c := range []struct {
		name, typ      string
		inputs         value.Value
		property, text string
	}{
		{"algorithm", keyType, obj("algorithm", "DSA"), "algorithm", "RSA, ECDSA, ED25519"},
		{"curve", keyType, obj("algorithm", "ECDSA", "ecdsaCurve", "P25"), "ecdsaCurve", "P224"},
		{"bits", keyType, obj("algorithm", "RSA", "rsaBits", 512), "rsaBits", "from 1024"},
		{"address", requestType, obj("privateKeyPem", "", "ipAddresses", []string{"1.2.3.4", "1.2.3"}), "ipAddresses[1]",
			"not an IP address"},
		{"URI", requestType, obj("privateKeyPem", "", "uris", []string{"://"}), "uris[0]", "not a URI"},
		{"use", selfSignedType, certificate.With("allowedUses", value.List(value.String("signing"))), "allowedUses[0]",
			"cert_signing"},
		{"hours", selfSignedType, certificate.With("validityPeriodHours", value.Number(1e9)), "validityPeriodHours",
			"from 0"},
		{"early", signedType, obj("caPrivateKeyPem", "", "caCertPem", "", "certRequestPem", "", "validityPeriodHours", 1,
			"allowedUses", []string{}, "earlyRenewalHours", -1), "earlyRenewalHours", "from 0"},
		{"nameless authority", selfSignedType, certificate.With("isCaCertificate", value.Bool(true)), "subject",
			"must name it"},
		{"nothing to refer to", selfSignedType, certificate.With("setAuthorityKeyId", value.Bool(true)), "setAuthorityKeyId",
			"setSubjectKeyId"},
	} {
		r := configure(t, "tls", Options{})
		response, err := r.Check(t.Context(), provider.CheckRequest{Subject: subject(c.typ), News: c.inputs})
		require.NoError(t, err, c.name)
		require.Len(t, response.Failures, 1, c.name)
		require.Equal(t, c.property, response.Failures[0].Property, c.name)
		require.Contains(t, response.Failures[0].Reason, c.text, c.name)
	}
	r := configure(t, "tls", Options{})
	_, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(keyType), ID: "x"})
	require.ErrorContains(t, err, "cannot be imported")
}

const certificateToken = "tls:index/getCertificate:getCertificate"

func TestGetCertificateOfContent(t *testing.T) {
	t.Parallel()
	r := configure(t, "tls", Options{})
	response, err := r.Invoke(t.Context(), provider.InvokeRequest{Token: certificateToken,
		Args: obj("content", someKey.certificate)})
	require.NoError(t, err)
	list, _ := at(response.Result, "certificates").AsList()
	require.Len(t, list, 1)
	want := map[string]string{
		"certPem": someKey.certificate, "issuer": "CN=authority.test", "subject": "CN=authority.test",
		"notBefore": "2026-11-21T12:38:59Z",
		"notAfter":  "2126-10-28T12:38:59Z", "publicKeyAlgorithm": "Ed25519", "signatureAlgorithm": "Ed25519",
		"serialNumber":    "149846220566521995139991337131854366481442981892",
		"sha1Fingerprint": "72e16350c09a45bb78ace130ca7794ad0bdf12ee",
	}
	for name, wanted := range want {
		require.Equal(t, wanted, text(list[0], name), name)
	}
	require.True(t, boolOf(list[0], "isCa"))
	require.NotEmpty(t, text(response.Result, "id"))
	for _, c := range []struct {
		args value.Value
		why  string
	}{
		{obj(), "either"}, {obj("content", "x"), "not in the PEM"}, {obj("content", someKey.private), "must begin with"},
		{obj("content", someKey.certificate, "verifyChain", false), "not verified"},
		{obj("url", "http://a.test"), "must be such as"},
		{obj("url", "tls://a.test"), "needs a port"},
	} {
		_, err := r.Invoke(t.Context(), provider.InvokeRequest{Token: certificateToken, Args: c.args})
		require.ErrorContains(t, err, c.why)
	}
}

func TestGetCertificateOfServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "https://")
	r := configure(t, "tls", Options{})
	for _, url := range []string{"https://" + address, "tls://" + address} {
		response, err := r.Invoke(t.Context(), provider.InvokeRequest{Token: certificateToken,
			Args: obj("url", url, "verifyChain", false)})
		require.NoError(t, err)
		list, _ := at(response.Result, "certificates").AsList()
		require.Len(t, list, 1)
		require.Equal(t, encodePEM(blockCertificate, server.Certificate().Raw), text(list[0], "certPem"))
		_, err = r.Invoke(t.Context(), provider.InvokeRequest{Token: certificateToken, Args: obj("url", url)})
		require.ErrorContains(t, err, "certificate", "a chain is verified by default")
	}
}

// TestGetCertificateThroughProxy uses a proxy that requires a password and forwards the connection.
func TestGetCertificateThroughProxy(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Proxy-Authorization") != "Basic dTpodW50ZXIy" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		passOn(w, request)
	}))
	t.Cleanup(proxy.Close)
	call := func(settings value.Value, environ ...string) error {
		p, err := NewLoader(Options{Environ: environ}).Load(t.Context(), provider.Package{Name: "tls"})
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Close() })
		checked, err := p.CheckConfig(t.Context(), provider.CheckRequest{News: settings})
		require.NoError(t, err)
		c, err := p.Configure(t.Context(), provider.ConfigureRequest{Inputs: settings})
		require.Equal(t, err == nil, len(checked.Failures) == 0, "what cannot be configured is found by the check")
		if err != nil {
			return err
		}
		response, err := c.Invoke(t.Context(), provider.InvokeRequest{Token: certificateToken,
			Args: obj("url", server.URL, "verifyChain", false)})
		if err == nil {
			require.Len(t, response.Failures, 0)
			list, _ := at(response.Result, "certificates").AsList()
			require.Len(t, list, 1)
		}
		return err
	}
	require.NoError(t, call(obj("proxy", obj("url", proxy.URL, "username", "u", "password", "hunter2"))))
	require.NoError(t, call(obj("proxy", `{"url":"`+proxy.URL+`","username":"u","password":"hunter2"}`)))
	wrong := call(obj("proxy", obj("url", proxy.URL, "username", "u", "password", "hunter3")))
	require.ErrorContains(t, wrong, "Proxy Authentication Required")
	require.NotContains(t, wrong.Error(), "hunter3")
	// The proxy comes from the program's environment. By httpproxy's rules, a server on this machine needs no proxy.
	require.NoError(t, call(obj("proxy", obj("fromEnv", true)), "HTTPS_PROXY=http://127.0.0.1:1"))
	require.ErrorContains(t, call(obj("proxy", obj("url", "ftp://x"))), "begins with")
	require.ErrorContains(t, call(obj("proxy", "x")), "must be a map")
	require.NoError(t, call(obj("proxy", obj("fromEnv", false))))
}

// passOn forwards a connection after a CONNECT request.
func passOn(w http.ResponseWriter, request *http.Request) {
	server, err := net.Dial("tcp", request.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(server, client); server.Close() }()
	go func() { _, _ = io.Copy(client, server); client.Close() }()
}

func FuzzTLSDecoders(f *testing.F) {
	for _, name := range []string{"rsa.pem", "p256.pem", "p224.pem", "ed25519.pem", "request.pem", "authority.pem",
		"ed25519.openssh", "locked.pem", "locked.openssh"} {
		f.Add(sample(name))
	}
	c := certificates{generator: generator{Options{}.withDefaults()}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string, string) error{
			func(s, what string) error { _, _, err := parseKey(s, what); return err },
			func(s, what string) error { _, _, err := parseOpenSSHKey(s, what); return err },
			func(s, what string) error { _, err := parseRequest(s, what); return err },
			func(s, what string) error {
				certificate, err := parseCertificate(s, what)
				if err == nil {
					describeCertificate(certificate)
				}
				return err
			},
		} {
			if err := parse(text, "it"); err != nil && len(text) > 40 && strings.Contains(err.Error(), text) {
				t.Errorf("an error shows the text: %v", err)
			}
		}
		_, _ = proxyFrom(obj("proxy", text))
		_, _ = c.getCertificate(context.Background(), obj("content", text))
	})
}
