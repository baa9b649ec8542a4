// Package convert converts Kubernetes manifests and CloudFormation templates to YAML programs. Its central types are
// Program, which collects the resources, and Item, which reports the outcome for one object of the input. Parts that
// cannot be converted stay in the program as comments with a reason.
//
// The package reads no files and starts no processes: the command passes the texts and, if available, the schemas.
package convert
