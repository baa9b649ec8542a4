// Package wire translates values to and from the protobuf messages that plugins, programs and engines exchange (rules
// F1).
//
// Options describes what the receiver understands; its methods Encode and Decode do the work in one walk. Secrets,
// assets, archives, resource references, outputs with dependencies and byte strings travel as maps with a signature,
// unknowns as reserved strings. The package knows no remote call: which call keeps what is the business of its users.
package wire
