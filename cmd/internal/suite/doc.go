// Package suite runs the tests of programs: files beside a program that describe runs and what is expected of them. A
// case runs the checked program against the real engine over a state in memory, with providers that act only where the
// test asks for it. Its central types are File, Case and Runner.
package suite
