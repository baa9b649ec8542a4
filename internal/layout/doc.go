// Package layout holds nothing but the tests that keep the walls of the house where they are drawn.
package layout
