// Package provider is the contract between the engine and whatever manages resources (rules E3, F2).
//
// A Provider is a loaded but unconfigured provider; Configure turns it into a Configured one, which alone can manage
// resources, so that "not configured yet" is a type and not a flag. Plugin processes, providers in this process and a
// server that exposes the latter over gRPC all speak it. Values cross it with their secrets and unknowns; what a
// plugin's wire cannot carry is the business of the implementation.
package provider
