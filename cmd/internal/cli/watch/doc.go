// Package watch implements the command watch, which plans again whenever a file of the project changes.
package watch
