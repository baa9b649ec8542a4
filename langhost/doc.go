// Package langhost is the language host for Pulumi YAML: the gRPC service that the Pulumi CLI starts as
// pulumi-language-yaml to run our interpreter under its own engine (rules F9, L1.I).
//
// A Host answers LanguageRuntime and Converter. Run reads, checks and evaluates a program against the monitor of the
// process that asks; RunPlugin serves components written in YAML as a provider; GenerateProject and GenerateProgram
// write programs from PCL, ConvertProgram writes them back. Everything that a call needs comes in its request: calls
// share nothing but the engine's address, never change the working directory and may run side by side.
//
// The package knows nothing of our own engine, of state or of backends.
package langhost
