package wire

import "github.com/yamlhost/yamlhost/internal/value"

// SignatureKey is the map key that marks a special value (F1.3).
const SignatureKey = value.SignatureKey

// The signatures of the kinds of special values (F1.3).
const (
	SecretSignature   = "1b47061264138c4ac30d75fd1eb44270"
	AssetSignature    = "c44067f5952c0a294b673a41bacd8c17"
	ArchiveSignature  = "0def7320c3a5731c473e5ecbe6d01bc7"
	ResourceSignature = "5cf8f73096256a8f31e491e813e4eb8e"
	OutputSignature   = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
	BytesSignature    = "803fd3297a5875dc03ca845dda5d2a98"
)

// UnknownString is the sentinel for an unknown string, an unknown of unknown kind, and an unknown ID (F1.3, F1.5).
const UnknownString = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// sentinels are the strings that stand for unknown values, by kind (F1.3, F1.5). The one of strings implies no kind.
var sentinels = [...]struct {
	kind value.Kind
	text string
}{
	{value.KindAny, UnknownString},
	{value.KindBool, "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"},
	{value.KindNumber, "3eeb2bf0-c639-47a8-9e75-3b44932eb421"},
	{value.KindList, "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"},
	{value.KindMap, "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"},
	{value.KindAsset, "030794c1-ac77-496b-92df-f27374a8bd58"},
	{value.KindArchive, "e48ece36-62e2-4504-bad9-02848725956a"},
}

// The keys of special maps.
const (
	valueKey        = "value"
	secretKey       = "secret"
	dependenciesKey = "dependencies"
	urnKey          = "urn"
	idKey           = "id"
	nameKey         = "name"
	typeKey         = "type"
	versionKey      = "packageVersion"
	hashKey         = "hash"
	textKey         = "text"
	pathKey         = "path"
	uriKey          = "uri"
	assetsKey       = "assets"
)

// Sentinel returns the string that stands for an unknown of a kind (F1.5). Kinds without their own sentinel share that
// of strings, as in Pulumi's engine (E1.12).
func Sentinel(kind value.Kind) string {
	for _, s := range sentinels {
		if s.kind == kind {
			return s.text
		}
	}
	return UnknownString
}

// KindOfSentinel returns the kind of a sentinel, and whether text is one. The string sentinel also stands for unknowns
// of unknown kind (E1.12), so its kind is KindAny.
func KindOfSentinel(text string) (value.Kind, bool) {
	if len(text) == len(UnknownString) {
		for i := range sentinels {
			if sentinels[i].text == text {
				return sentinels[i].kind, true
			}
		}
	}
	return value.KindAny, false
}
