package state

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// Form describes how secrets appear in JSON. The zero Form is Sealed(nil).
type Form struct {
	manager secrets.Manager
	secrets secretForm
	html    bool // escape <, > and &, as Go's encoder does by default
}

type secretForm uint8

const (
	sealSecrets secretForm = iota
	showSecrets
	markSecrets
	maskSecrets
	innerSecrets // inside a secret's plain text (F4.7)
)

// Sealed returns the form of state files: {signature, "ciphertext"}, sealed by m (F4.7). With a nil m only secrets that
// Decode left sealed can be written.
func Sealed(m secrets.Manager) Form { return Form{manager: m} }

// Shown returns the form with secrets as plain text: {signature, "plaintext"} (F4.8). Use it only if the user asked for
// plain text.
func Shown() Form { return Form{secrets: showSecrets} }

// Marked returns the form of events: {signature, "ciphertext": "[secret]"} (F7.6).
func Marked() Form { return Form{secrets: markSecrets} }

// Masked returns the form of preview documents: the plain string "[secret]" (F7.9).
func Masked() Form { return Form{secrets: maskSecrets} }

// Signatures of special values in state (F1.3, F1.19).
const (
	signatureKey         = value.SignatureKey
	secretSignature      = "1b47061264138c4ac30d75fd1eb44270"
	assetSignature       = "c44067f5952c0a294b673a41bacd8c17"
	archiveSignature     = "0def7320c3a5731c473e5ecbe6d01bc7"
	resourceSignature    = "5cf8f73096256a8f31e491e813e4eb8e"
	byteStringSignature  = "803fd3297a5875dc03ca845dda5d2a98"
	floatSignature       = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c"
	unknownText          = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
	emptyAssetHash       = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	emptyArchiveHash     = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
	redacted             = "[secret]"
	markedSecret         = `{"` + signatureKey + `":"` + secretSignature + `","ciphertext":"` + redacted + `"}`
	maskedSecret         = `"` + redacted + `"`
	maxDepth             = 1000
	latestVersion        = 3 // F5.2
	latestFeatureVersion = 4
)

// Sealer is a stack's secrets manager. Code that only stores snapshots needs no import of package secrets.
type Sealer = secrets.Manager
