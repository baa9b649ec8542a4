// Package convert has the command that writes programs from what other tools read.
package convert
