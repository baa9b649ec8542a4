// Package postgres keeps the state of stacks in a database of PostgreSQL, in the table and under the keys of the Pulumi
// CLI (F6.18). What only yamlhost knows stands in a second table beside it. Store implements backend.Objects, so that
// all that holds of state in a store holds here by the same code; and backend.Fencing, because a database can do more:
// each write of a run checks the number of its lease in its own transaction.
//
// The build tag lean leaves it out.
package postgres
