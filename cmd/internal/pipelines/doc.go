// Package pipelines writes pipelines for CI systems out of a graph of projects: for each stack a job that plans and one
// that applies the plan, which is an artefact, each behind what the stack needs. It is pure: no job is run here. Its
// central type is Kind.
package pipelines
