// Package runlog keeps short records of the operations on this machine, so that the console can show them while they
// run and afterwards: a file for each operation, with a line of JSON for each event. Nothing is recorded unless the
// folder exists, which the console creates. Secrets are masked before anything is written.
//
// A Recorder writes one record; List and Read return them.
package runlog
