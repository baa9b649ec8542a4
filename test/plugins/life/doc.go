// Package life holds tests of whole lives of stacks over real plugin processes: the providers of the public conformance
// suite and the provider shelf, found on PATH by a yamlhost binary that the tests build.
package life
