// Package paths compares property paths with those of Pulumi's SDK, over random values and paths. It is a module of its
// own, because the program depends on no more of the SDK than its protocol.
package paths
