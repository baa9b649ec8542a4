// Package schema reads the schemas of providers: their resources, functions and types (rules F8).
//
// Package is one provider's schema. It decodes only the members that a program uses. Type is a closed set of types, for
// schema members and for program expressions. Loader finds packages. The package does not depend on programs, plugins
// or state.
package schema
