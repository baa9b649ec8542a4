// Package service keeps stacks behind HTTP, in the protocol of Pulumi Cloud: Service implements the contract of package
// backend. It knows neither states nor journals, which it only passes on.
package service
