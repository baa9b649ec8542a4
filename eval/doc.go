// Package eval runs a checked program (rules L3–L6 and L9).
//
// Run walks the graph that package check made, evaluates configuration values, variables and resources as soon as
// what they need is there, and asks a monitor.Monitor for everything that touches the world. Values are known or
// unknown; there are no promises. A body that is evaluated several times, such as the body of a component, has one
// frame for each time, with its own values and the settings that its resources share. A failure is reported once and
// poisons the nodes that need the failed one; all other nodes go on. The package does not depend on engines, state or
// YAML.
package eval
