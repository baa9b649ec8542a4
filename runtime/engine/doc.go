// Package engine executes operations on a stack: it runs a program, plans the steps that bring the stack to the
// declared state, and applies them (rules E2–E8).
//
// Update, Destroy, Refresh and ImportResources are the operations. An operation (operation.go) runs through its phases;
// the program sees only its Deployment, which implements monitor.Monitor. assemble.go creates the parts of an operation
// and connects them:
//
//   - the registrar takes a registration through its stages, with the examiner, which asks the provider, and the
//     decider, which chooses the steps, one resource at a time;
//   - the resolver finds providers, the retainer keeps what is out of scope, the outputRecorder writes outputs;
//   - the refresher, the importer, the migration and the deleter work before, after and without a program;
//
// - the lifetime decides what may still begin, the reporter sends events and counts, failures handle a failed resource.
//
// internal/plan makes the decisions and is pure: it takes a prior state, a goal and a provider's answers, and returns
// Steps, which are data. internal/apply executes the steps and records each in the journal before and after it runs.
// internal/resources holds the prior, current and renamed resources; internal/providers holds the running providers;
// internal/slots bounds how many run at once. A preview takes the same path with an executor that changes nothing.
// Events report progress to a view. The package does not depend on YAML, files or terminals.
package engine
