// Command same compares two binaries of yamlhost: for every example and for every program of the archives of a tree it
// runs, runs again and destroys with both, and compares exit codes, events, states, histories and journals.
//
// What differs between two runs of the same binary is left out: times, random ids. What differs between the binaries is
// told, and what no line of the file of -named explains makes it fail. It counts what it compared.
//
// With -unpack it only writes the programs into folders, for others to run.
//
// Called as pulumi-resource-zoo it is the provider that the archives of the evaluator are written for.
package main
