// Package wire encodes values as the protobuf messages that plugins, programs and engines exchange, and decodes them
// (rules F1).
//
// Options describe the capabilities of the receiver; their methods Encode and Decode work in one pass. Secrets, assets,
// archives, resource references, outputs with dependencies and byte strings are encoded as maps with a signature,
// unknowns as reserved strings. The package does not determine which call keeps which marks; its users do.
package wire
