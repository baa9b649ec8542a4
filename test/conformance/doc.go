// Command conformance runs Pulumi's language conformance suite on the language host and reports which tests pass.
//
//	conformance -host bin/pulumi-language-yaml [-programs DIR] [-run PATTERN] [-table FILE] [-passing FILE]
//
// It is a module of its own, so that the suite and Pulumi's engine, which it brings, stay out of the product. Each
// worker starts two processes: this program again as the suite's engine, and the host. A test that hangs ends with
// them.
package main
