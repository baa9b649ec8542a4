// Package packages implements the command package, which adds packages to a project and shows what they have, and the
// command install. packages.go finds a package, fetches it and edits the project file; show.go has info, get-schema and
// get-mapping, and install.go install.
package packages
