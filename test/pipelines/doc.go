// Package pipelines tests the pipelines that `run --all --emit` writes: with actionlint, by running the steps of the
// workflow in the order of its needs, and with gitlab-ci-local and its shell executor. It is a module of its own, so
// that its dependencies never reach the program.
package pipelines
