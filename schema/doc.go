// Package schema reads what providers say about themselves: their resources, functions and types (rules F8).
//
// Package is one provider's schema, of which only the members that a program names are decoded. Type is a closed set of
// types, used for schema members and for program expressions alike. Loader finds packages. The package knows nothing of
// programs, plugins or state.
package schema
