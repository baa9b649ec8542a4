// Package packages implements the commands package, which adds packages to a project and shows their contents, and
// install.
package packages
