// Package service keeps stacks behind HTTP, in the protocol of Pulumi Cloud: Service implements backend.Service. It
// passes states and journals on without decoding them.
package service
