// Package schema implements the commands schema, which shows the members of packages or writes a JSON Schema, and
// schema check. schema.go describes members of any package, own.go the components of the project and its JSON Schema,
// and schemacheck.go finds faults in the schema of a package.
package schema
