// Package bundle turns a source file beside a program, with what it imports, into one text that an interpreter can run
// without the files (D15).
//
// TypeScript and JavaScript go through esbuild, in process: nothing has to be installed. Python is taken as files. A
// bundle is a function of its sources alone: its digest is the same in every folder, for every user and time zone.
//
// The package refuses to know resources and providers.
package bundle
