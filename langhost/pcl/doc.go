// Package pcl translates programs between PCL, Pulumi's intermediate language, and YAML (rules L6.F, decision D6).
//
// Generate writes YAML. It uses the language of all hosts, and our superset only if that language lacks a construct.
// PCL that it cannot translate is an error: it never translates a part of a program. It parses PCL with HCL's parser,
// without Pulumi's binder, and needs schemas only for the order of positional arguments. Convert writes PCL.
//
// The package knows nothing of gRPC, of projects or of engines.
package pcl
