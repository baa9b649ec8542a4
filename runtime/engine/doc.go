// Package engine carries out what a program asks for: it plans and applies (rules E2–E8).
//
// Update, Destroy, Refresh and ImportResources are operations on one stack. An operation (operation.go) walks through
// its phases; Deployment is the part of it that a program sees, and implements monitor.Monitor. assemble.go makes
// all parts and tells each what it works with:
//
//   - the registrar takes a registration through its stages, with the examiner, which asks the provider, and the
//     decider, which chooses the steps, one resource at a time;
//   - the resolver finds providers, the retainer keeps what is out of scope, the outputRecorder writes outputs;
//   - the refresher, the importer, the migration and the deleter work before, after and without a program;
//   - the lifetime says what may still begin, the reporter what happened, and failures how much ends with a fault.
//
// What decides is in internal/plan, which is pure: a prior state, a goal and a provider's answers go in, Steps come
// out, which are data. internal/apply takes the steps and tells the journal before and after each; internal/resources
// keeps what is known of resources, internal/providers the providers at work, and internal/slots bounds how much goes
// on at once. A preview is the same path with an executor that acts on nothing. Events tell a view what happens. The
// package knows nothing of YAML, files or terminals.
package engine
