// Package doctor has the command line of doctor, which looks at the machine: what of it works, what does not, and what
// to do.
package doctor
