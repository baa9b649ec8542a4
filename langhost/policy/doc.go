// Package policy runs policy packs written in YAML (L10.C22). It implements analyzer.Analyzer with package eval.
//
//	PulumiPolicy.yaml -> workspace -> check.Program -> Pack -> violations and remedies
//
// A Pack applies its rules to the resources that an engine describes. It starts no process and reads only its folder.
// Package langhost serves packs to the Pulumi CLI; yamlhost runs them in its own process.
package policy
