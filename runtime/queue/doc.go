// Package queue distributes work on stacks to many machines: workers take jobs from PostgreSQL with River.
//
// A job is one command on one stack of a project. Its files come from a git commit or from an archive in the backend of
// the stacks. A job holds no secrets: passphrases and credentials are configured on the workers. A job waits until the
// jobs that it needs are completed. River chooses the worker, keeps priorities, retries with backoff and deletes old
// jobs. This package adds the following. A worker holds an advisory lock while it works on a job, so that the job of a
// dead worker goes to another worker; the slots of an environment are advisory locks too. An attempt records its own
// outcome, in a transaction that changes nothing if another attempt has taken over the job. A preview stores its
// planned outputs for the previews that need them, as bytes that only Runner understands. The package does not depend
// on the command line, the engine or a backend: Runner runs a job, and Archives stores archives.
package queue
