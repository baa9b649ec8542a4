// Package serve implements the command serve, which offers services to other programs. The flags, options and run
// function of each command stand together.
package serve
