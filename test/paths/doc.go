// Package paths compares property paths and configuration with those of Pulumi's SDK, over random values. It is a module
// of its own, because the program depends on no more of the SDK than its protocol.
package paths
