// Package policy runs policy packs that are written in YAML (L10.C22): an analyzer.Analyzer over the language side.
//
//	PulumiPolicy.yaml -> workspace -> check.Program -> Pack -> violations and remedies
//
// A Pack asks its rules about the resources that an engine describes. It starts no process and reads nothing but its
// folder. Package langhost serves packs to the Pulumi CLI; yamlhost runs them in its own process.
package policy
