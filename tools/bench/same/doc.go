// Command same compares two binaries of yamlhost: for every example and for every program of the archives of a tree it
// runs, runs again and destroys with both, and compares exit codes, events, states, histories and journals.
//
// It leaves out differences between two runs of the same binary: times, random ids. It reports differences between
// the binaries, and fails for one that no line of the file of -named explains. It counts its comparisons.
//
// With -unpack it only writes the programs into folders, for other tools to run.
//
// Under the name pulumi-resource-zoo it is the provider of the evaluator's archives.
package main
