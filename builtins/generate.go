package builtins

//go:generate go test . -run ^TestPage$ -update
