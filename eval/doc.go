// Package eval runs a checked program (rules L3–L6 and L9).
//
// Run walks the graph that package check made, evaluates configuration values, variables and resources as soon as what
// they need is there, and asks a monitor.Monitor for everything that touches the world. Values are known or unknown;
// there are no promises. A body that is evaluated several times, as that of a component is, has a frame for each: its
// own values, and what its resources have in common. What fails is reported once and poisons what needs it, and
// everything else goes on. The package knows nothing of engines, state or YAML.
package eval
