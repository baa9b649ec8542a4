// Package convert converts Kubernetes manifests and CloudFormation templates to YAML programs. Its central types are
// Program, which collects the resources, and Item, which reports the outcome for one object of the input. Parts that
// cannot be converted stay in the program as comments with a reason.
//
// read.go reads the texts, program.go has Program and the helpers that build trees, comments.go carries the comments of
// the input over, and mask.go hides secrets in what is quoted from it. kubernetes.go converts manifests.
// cloudformation.go converts the sections of a template, parameters.go its parameters, values.go the values in them,
// expressions.go and texts.go the calls of functions in these, and nested.go the templates of nested stacks.
//
// The package reads no files and starts no processes: the command passes the texts and, if available, the schemas. A
// conversion runs in one goroutine; none of its types is safe for concurrent use.
package convert
