// Package serve implements the command serve, which offers services to other programs: the language host.
package serve
