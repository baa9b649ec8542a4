// Package explain implements the command explain, which shows the pages about codes of findings. The pages are in
// internal/diag/explain.
package explain
