// Package watch has the command line of watch, which plans whenever a file of the project changes.
package watch
