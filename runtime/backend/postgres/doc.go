// Package postgres keeps the state of stacks in a database of PostgreSQL, in the table and under the keys of the
// Pulumi CLI (F6.18). A second table holds the data that only yamlhost has. Store implements backend.Objects, so that
// state in a database goes through the same code as state in any store. It also implements backend.Fencing: each
// write of a run checks the number of its lease in its own transaction.
//
// The build tag lean leaves it out.
package postgres
