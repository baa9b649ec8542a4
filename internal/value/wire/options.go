package wire

// Options describe the capabilities of a receiver (F1.12). With the zero Options nothing special is kept: secrets
// become plain, unknowns are left out, and resource references become IDs. Options are plain data and safe for
// concurrent use.
type Options struct {
	// KeepUnknowns keeps unknowns. Otherwise a property that contains one is left out; a list item is left out by the
	// encoder and becomes null in the decoder (F1.11).
	KeepUnknowns bool
	// RejectUnknowns makes an unknown an error. KeepUnknowns takes precedence.
	RejectUnknowns bool
	// KeepSecrets keeps secrecy. Otherwise the plain value is used: an encoder then exposes secrets to the receiver, a
	// decoder loses their marks.
	KeepSecrets bool
	// KeepResources keeps resource references. Otherwise the ID is used, or the URN if there is no ID.
	KeepResources bool
	// KeepOutputs encodes dependencies as output values. Otherwise they are dropped.
	KeepOutputs bool
	// KeepUnknownKinds encodes the kind of an unknown with dependencies, for which output values have no field. Only
	// receivers that decode a sentinel inside an output value as an unknown support that; ours do.
	KeepUnknownKinds bool
	// KeepByteStrings keeps strings that are not UTF-8. Otherwise they are an error that names the property (F1.9).
	KeepByteStrings bool
	// ElideAssetContents encodes assets and archives that have a hash without their content.
	ElideAssetContents bool
}

// KeepAll returns the Options for a lossless exchange between two ends of yamlhost.
func KeepAll() Options {
	return Options{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputs: true, KeepUnknownKinds: true,
		KeepByteStrings: true,
	}
}
