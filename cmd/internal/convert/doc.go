// Package convert writes programs in YAML from what other tools read: manifests of Kubernetes and templates of
// CloudFormation. Its central types are Program, which takes the resources, and Item, which reports what became of one
// object of the input. What cannot be converted stays in the program as a comment with its reason.
//
// The package reads no files and starts nothing: the command passes the texts, and the schemas where there are some.
package convert
