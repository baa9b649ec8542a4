package wire

// Options controls what a receiver understands and how the rest is expressed (F1.12). The zero Options keeps nothing:
// secrets become plain, unknowns vanish, resource references become IDs. Options are plain data and safe for concurrent
// use.
type Options struct {
	// KeepUnknowns passes unknowns on; else the property that holds one is left out, and an item is left out of its list
	// when writing and becomes null when reading (F1.11).
	KeepUnknowns bool
	// RejectUnknowns makes an unknown an error. KeepUnknowns goes before it.
	RejectUnknowns bool
	// KeepSecrets passes secrecy on; else the bare value stands in its place. Writing without it shows secrets to the
	// receiver, reading without it forgets them.
	KeepSecrets bool
	// KeepResources passes resource references on; else the ID stands in their place, or the URN where there is no ID.
	KeepResources bool
	// KeepOutputs passes dependencies on as output values; else they are dropped.
	KeepOutputs bool
	// KeepUnknownKinds writes the kind of an unknown with dependencies, which the plain output value has no room for.
	// Only readers that take a sentinel inside an output value for an unknown understand it; ours do.
	KeepUnknownKinds bool
	// KeepByteStrings passes strings that are not UTF-8 on; else they are an error naming the property (F1.9).
	KeepByteStrings bool
	// ElideAssetContents writes assets and archives with a hash as signature and hash alone.
	ElideAssetContents bool
}

// KeepAll is for two ends that are both ours: everything that a value holds is kept.
func KeepAll() Options {
	return Options{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputs: true, KeepUnknownKinds: true,
		KeepByteStrings: true,
	}
}
