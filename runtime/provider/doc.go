// Package provider defines the contract between the engine and the providers that manage resources (rules E3, F2).
//
// A Provider is loaded but not configured; Configure returns a Configured provider, and only that can manage resources.
// The type system thus rules out calls to an unconfigured provider. Plugin processes, providers in this process and the
// server that exposes the latter over gRPC all implement this contract. Values carry their secrets and unknowns; an
// implementation handles whatever its plugin's protocol cannot carry.
package provider
