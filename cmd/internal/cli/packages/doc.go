// Package packages has the command line of package, which adds packages to a project and shows what they have, and of
// install.
package packages
