// Package pcl translates programs between PCL, Pulumi's intermediate language, and YAML (rules L6.F, decision D6).
//
// Generate writes YAML: in the language that every host understands where that can say it, else in the superset. What
// is not understood is an error: a program is translated whole or not at all. PCL is read with HCL's own parser,
// without Pulumi's binder; of schemas only the order of positional arguments is needed.
//
// The package knows nothing of gRPC, of projects or of engines.
package pcl
