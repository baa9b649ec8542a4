// Package langhost is the language host for Pulumi YAML: the gRPC service that the Pulumi CLI starts as
// pulumi-language-yaml to run our interpreter under its own engine (rules F9, L1.I).
//
// A Host implements LanguageRuntime and Converter. Run reads, checks and evaluates a program against the monitor of the
// caller; RunPlugin serves components written in YAML as a provider; GenerateProject and GenerateProgram translate
// programs from PCL, ConvertProgram translates them to PCL. A request carries everything that its call needs: calls
// share only the connection to the engine, never change the working directory and may run concurrently.
//
// The package knows nothing of our own engine, of state or of backends.
package langhost
