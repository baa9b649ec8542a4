package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Expressions that may never be evaluated, or that may fail without harm, are checked less strictly than the rest.

var (
	// inBranch are the faults that a condition may keep from happening.
	inBranch = []diag.Code{diag.IndexOutOfRange, diag.FunctionFailed, diag.FileAccess}
	// inTry are the faults that try, can and recover catch, type errors included (L10.C5).
	inTry = []diag.Code{diag.IndexOutOfRange, diag.FunctionFailed, diag.FileAccess, diag.NoMember, diag.NotIndexable,
		diag.NotAssignable, diag.NotPrintable}
)

// tolerating runs fn and leaves out errors of some kinds that it reports.
func (c *findings) tolerating(codes []diag.Code, fn func()) {
	if len(codes) == 0 {
		fn()
		return
	}
	for _, d := range c.attempt(fn) {
		if d.Severity != diag.Error || !slices.Contains(codes, d.Code) {
			c.report(d)
		}
	}
}

// MayFail reports whether a function handles the failure of an argument, as try and can do.
func MayFail(f *builtins.Func, arg int) bool {
	return f.Name == "try" || f.Name == "can" || f.Name == "recover" && arg == 0
}

// harmless are the faults that an argument of a function may have without being wrong.
func harmless(f *builtins.Func, arg int) []diag.Code {
	switch {
	case MayFail(f, arg):
		return inTry
	case f.Name == "if" && arg > 0:
		return inBranch
	}
	return nil
}
