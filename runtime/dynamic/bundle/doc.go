// Package bundle turns a source file beside a program, with its imports, into one text that an interpreter can run
// without the files (D15).
//
// esbuild bundles TypeScript and JavaScript in this process, so nothing has to be installed. Python files are kept as
// they are. A bundle depends on its sources only: its digest is the same in every folder, for every user and time zone.
//
// The package knows nothing of resources and providers.
package bundle
