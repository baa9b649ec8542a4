// Package crd reads the CustomResourceDefinitions of Kubernetes in a project as the schema of the kinds that they
// define.
//
// A Cache reads files and keeps their schemas, in memory and in a folder. The Set of a project's files adds them to the
// package kubernetes: the type of a kind is kubernetes:GROUP/VERSION:Kind. Nothing here asks a cluster.
package crd
