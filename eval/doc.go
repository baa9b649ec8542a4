// Package eval runs a checked program (rules L3–L6 and L9).
//
// Run walks the graph built by package check, evaluates each configuration value, variable and resource as soon as its
// dependencies are available, and uses a monitor.Monitor for all external effects. Values are known or unknown; there
// are no promises. A body that is evaluated several times, such as the body of a component, has one frame per
// evaluation, with its own values and the settings that its resources share. A failure is reported once and poisons the
// dependants of the failed node; all other nodes go on. The package does not depend on engines, state or YAML.
package eval
