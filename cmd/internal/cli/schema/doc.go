// Package schema implements the command schema, which shows the inputs and outputs of resources and functions. The
// flags, options and run function of each command stand together.
package schema
