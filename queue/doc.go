// Package queue lets many machines work on stacks: jobs in PostgreSQL, by River, that workers take.
//
// A job is one command on one stack of a project, which it names by a git commit or by the digest of an archive in the
// backend of the stacks. It holds no secret: a worker brings passphrases and credentials. A job waits until those that
// it needs are completed. Which worker takes it, priorities, retries with backoff and who does the housekeeping are
// River's. What is added: a worker holds an advisory lock for as long as it works on a job, so that the job of one that
// died goes to another; slots of an environment are such locks too. An attempt records its end itself, in a transaction
// that changes nothing if the job is another attempt's by then. Previews leave what they plan for those that need them,
// as bytes that only Runner knows the meaning of. The package knows no command line, no engine and no backend: Runner
// carries a job out, and Archives keeps archives.
package queue
