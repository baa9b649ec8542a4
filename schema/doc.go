// Package schema reads what providers say about themselves: their resources, functions and types (rules F8).
//
// Package is one provider's schema. It decodes only the members that a program names. Type is a closed set of types,
// used for schema members and for program expressions alike. Loader finds packages. The package does not depend on
// programs, plugins or state.
package schema
