// Package change determines what a step changes: each property once, with both values, the kind of the change, and
// whether it forces a replacement, is secret or is only computed. Terminals, reports, the console, drift and logs of
// runs print this model; none of them compares values itself. A Property is what changes, a Set is all that a step
// changes, and Between compares two values.
package change
