// Package pipelines tests the pipelines that `run --all --emit` writes: by actionlint, by running the steps of the
// workflow in the order of its needs, and by gitlab-ci-local with its shell executor. It is a module of its own, so
// that what it needs never reaches the program.
package pipelines
