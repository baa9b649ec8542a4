// Package project reads the files that describe a project and its stacks (rules L1.A, L1.B, L2, F3).
//
// Project is a project file, Settings a stack's file Pulumi.<stack>.yaml, which can be edited in place with comments
// and order kept, and Merge makes the configuration that a program sees out of both. Faults in these files are
// diagnostics with places. The package knows nothing of programs beyond where their text lies, and nothing of state or
// engines.
package project
