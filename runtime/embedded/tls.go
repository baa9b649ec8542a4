package embedded

import (
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// tlsSchemaNote is the value of schemaNote in the state of private keys.
const tlsSchemaNote = `{"schema_version":"1"}`

// certificates implements the package tls: keys, certificate requests and certificates. They exist only in the state,
// so there is nothing to delete or import.
type certificates struct {
	generator
	proxy proxySettings
}

const onlyInState = "it exists only in a stack's state"

// tlsKinds returns the package tls.
func tlsKinds(o Options) kinds {
	k := certificates{generator: generator{o}}.kinds()
	k.configure = func(inputs value.Value) (kinds, error) {
		proxy, err := proxyFrom(inputs)
		if err != nil {
			return kinds{}, err
		}
		return certificates{generator: generator{o}, proxy: proxy}.kinds(), nil
	}
	return k
}

func (c certificates) kinds() kinds {
	signed := kind{
		byOutputs: true, idOutput: true, cannotAdopt: onlyInState,
		replaces: func(property string, before, after value.Value) bool {
			return property != "earlyRenewalHours" && replacesPEM(property, before, after)
		},
		stale: c.renewable, read: c.readCertificate,
	}
	selfSigned, locallySigned := signed, signed
	selfSigned.check, selfSigned.fillIn, selfSigned.create = checkSelfSigned, withSelfSignedDefaults, c.selfSigned
	locallySigned.check, locallySigned.fillIn, locallySigned.create = checkCertificate, withCertificateDefaults,
		c.locallySigned
	return kinds{
		resources: map[string]kind{
			"tls:index/privateKey:PrivateKey": {
				byOutputs: true, replaces: always, check: checkPrivateKey, create: c.privateKey, idOutput: true,
				fillIn: withKeyDefaults, cannotAdopt: onlyInState,
			},
			"tls:index/certRequest:CertRequest": {
				byOutputs: true, replaces: replacesPEM, check: checkNames, create: c.request, idOutput: true,
				fillIn: withPlainSubject, cannotAdopt: onlyInState,
			},
			"tls:index/selfSignedCert:SelfSignedCert":       selfSigned,
			"tls:index/locallySignedCert:LocallySignedCert": locallySigned,
		},
		functions: map[string]function{
			"tls:index/getPublicKey:getPublicKey":     getPublicKey,
			"tls:index/getCertificate:getCertificate": c.getCertificate,
		},
		refused: map[string]string{
			"pulumi:providers:tls/terraformConfig": "it describes a Terraform provider; install the plugin to read it",
		},
	}
}

// replacesPEM reports whether a change replaces the resource: every change does, except a change of a key that an old
// release of the public package recorded as a digest.
func replacesPEM(property string, before, _ value.Value) bool {
	if text, ok := before.AsString(); ok && strings.HasSuffix(property, "Pem") {
		return strings.Contains(text, "-----BEGIN ")
	}
	return true
}

// withPlainSubject removes empty members from the subject.
func withPlainSubject(inputs value.Value) value.Value {
	subject, ok := inputs.Lookup("subject")
	if !ok || !subject.Is(value.KindMap) || !subject.IsKnown() {
		return inputs
	}
	return inputs.With("subject", without(subject, func(_ string, v value.Value) bool {
		return v.IsNull() || v.IsKnown() && isZero(v)
	}))
}

// checkWhole checks that a number, if it is given and known, is from least to most.
func checkWhole(inputs value.Value, property string, least, most float64) []provider.Failure {
	v, _ := inputs.Lookup(property)
	f, ok := v.AsNumber()
	if !ok || f >= least && f <= most {
		return nil
	}
	return []provider.Failure{{Property: property, Reason: fmt.Sprintf(
		"%s must be from %s to %s", property, value.FormatNumber(least), value.FormatNumber(most))}}
}

// checkOneOf checks that a text, if it is given and known, is one of the allowed texts.
func checkOneOf(inputs value.Value, property string, allowed []string) []provider.Failure {
	v, _ := inputs.Lookup(property)
	s, ok := v.AsString()
	if !ok || slices.Contains(allowed, s) {
		return nil
	}
	return []provider.Failure{{Property: property, Reason: fmt.Sprintf("%s must be one of %s, not %q", property,
		strings.Join(allowed, ", "), s)}}
}

// textsAt calls visit for each known text of a list, with its path such as uris[0].
func textsAt(inputs value.Value, property string, visit func(place, text string)) {
	items, _ := inputs.Get(property).AsList()
	for i, item := range items {
		if s, ok := item.AsString(); ok {
			visit(fmt.Sprintf("%s[%d]", property, i), s)
		}
	}
}

// wholeOf returns a number as an int. A check has already limited it.
func wholeOf(inputs value.Value, property string) int {
	return int(numberArg(inputs, property))
}

func boolOf(inputs value.Value, property string) bool {
	b, _ := lookupBool(inputs, property)
	return b
}

func encodePEM(blockType string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der}))
}

// decodePEM returns the content of the first PEM block of a text, which must have the given type.
func decodePEM(text, blockType, what string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("%s is not in the PEM format", what)
	}
	if block.Type != blockType {
		return nil, fmt.Errorf("%s must begin with -----BEGIN %s-----, not with -----BEGIN %s-----", what, blockType,
			block.Type)
	}
	return block.Bytes, nil
}

// failed wraps err in a *provider.Error whose outcome is that nothing happened.
func failed(err error) error { return &provider.Error{Message: err.Error(), Cause: err} }
