// Package suite runs the tests of programs. Tests are files beside a program that describe runs and their expected
// results. A case runs the checked program on the real engine with an in-memory state. Its mock providers act on
// nothing real unless the test asks for that. The central types are File, Case and Runner.
package suite
