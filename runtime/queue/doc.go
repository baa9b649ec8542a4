// Package queue lets many machines work on stacks: jobs in PostgreSQL, by River, that workers take.
//
// A job is one command on one stack of a project, which it names by a git commit or by the digest of an archive in
// the backend of the stacks. It holds no secret: a worker brings passphrases and credentials. A job waits until those
// that it needs are completed. River chooses the worker, keeps priorities, retries with backoff and does its
// housekeeping. This package adds the following. A worker holds an advisory lock while it works on a job, so that the
// job of a dead worker goes to another one; slots of an environment are such locks too. An attempt records its end
// itself, in a transaction that changes nothing if another attempt has taken over the job. A preview leaves its
// planned outputs for the previews that need them, as bytes that only Runner understands. The package does not depend
// on the command line, the engine or a backend: Runner runs a job, and Archives keeps archives.
package queue
