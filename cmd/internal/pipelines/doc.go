// Package pipelines generates CI pipelines from a graph of projects. For each stack it writes a job that plans and one
// that applies the plan, which is passed on as an artefact. Jobs wait for the jobs of the stacks that they need. The
// package is pure: it runs nothing. The central type is Kind.
package pipelines
