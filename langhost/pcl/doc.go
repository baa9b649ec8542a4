// Package pcl translates programs between PCL, Pulumi's intermediate language, and YAML (rules L6.F, decision D6).
//
// Generate writes YAML. It uses the language that every host understands, and the superset only where that language
// lacks a construct. PCL that it does not understand is an error: it translates a program whole or not at all. It
// reads PCL with HCL's own parser, without Pulumi's binder; from schemas it needs only the order of positional
// arguments.
//
// The package knows nothing of gRPC, of projects or of engines.
package pcl
