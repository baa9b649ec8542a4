package builtins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Error is the error of a failed call. Reason never contains the text of an argument, so it can always be shown. Shown
// is such a text; Apply removes it if the argument is secret (L9.34).
type Error struct {
	Func   *Func
	Arg    int // 0-based index of the argument at fault; -1 for none
	Reason string
	Shown  string
	Detail string // further explanation; it may quote arguments, and Apply removes it like Shown
	Err    error  // the cause, for errors.Is; may be nil
}

// Error returns the reason, followed by Detail or else by Shown.
func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Reason + ": " + e.Detail
	}
	if e.Shown == "" {
		return e.Reason
	}
	return e.Reason + ": " + shorten(e.Shown)
}

// Unwrap returns the cause of the failure.
func (e *Error) Unwrap() error { return e.Err }

// shorten quotes a text and truncates it to a length that fits on a line.
func shorten(s string) string {
	const most = 60
	if quoted := fmt.Sprintf("%q", s); len(quoted) <= most {
		return quoted
	}
	cut := strings.ToValidUTF8(s[:min(most, len(s))], "")
	return fmt.Sprintf("%q…", cut)
}

// blame returns an error about the argument with index arg.
func blame(arg int, format string, a ...any) error {
	return &Error{Arg: arg, Reason: fmt.Sprintf(format, a...)}
}

// blameFor returns an error about an argument with the message of err. It returns nil if err is nil.
func blameFor(arg int, prefix string, err error) error {
	if err == nil {
		return nil
	}
	return blame(arg, "%s%s", prefix, err)
}

// blameText returns an error about an argument that also shows the text shown.
func blameText(arg int, shown, format string, a ...any) error {
	return &Error{Arg: arg, Reason: fmt.Sprintf(format, a...), Shown: shown}
}

// Apply calls f with values (L6.5). It checks the number and kinds of the arguments, returns an unknown value if one of
// them is unknown, and gives the result the secrecy and dependencies of all of them. The result is charged to the
// budget of ctx, if there is one. Errors are *Error, *BudgetError, or an error of Env.
//
// An optional argument may be omitted or null. A function with Lazy is called with thunks of the values; calling a
// function with neither Lazy nor Eval is an error.
func Apply(ctx context.Context, env Env, f *Func, args []value.Value) (value.Value, error) {
	if f.Lazy != nil {
		thunks := make([]Thunk, len(args))
		for i, arg := range args {
			thunks[i] = func(context.Context) (value.Value, error) { return arg, nil }
		}
		return ApplyLazy(ctx, env, f, thunks)
	}
	if err := f.arity(len(args)); err != nil {
		return value.Null, err
	}
	if f.Eval == nil {
		return value.Null, &Error{Func: f, Arg: -1, Reason: "cannot be called here"}
	}
	// plain holds the arguments that are passed to the body; lifted holds those whose marks are applied to the result
	// here.
	fixed := len(f.Params)
	if f.Variadic {
		fixed--
	}
	plain := make([]value.Value, max(len(args), fixed))
	var lifted []value.Value
	unknown := false
	for i, arg := range args {
		p := f.Param(i)
		if p.Marked {
			plain[i] = arg
		} else {
			lifted = append(lifted, arg)
			if arg.ContainsUnknown() {
				unknown = true
				continue
			}
			plain[i] = arg.Bare()
		}
		if p.Optional && arg.IsNull() {
			continue
		}
		if err := conform(plain[i], p.Type); err != nil {
			return value.Null, f.fault(&Error{Arg: i, Reason: p.Name + ": " + err.Error()}, args)
		}
	}
	if unknown {
		return value.UnknownFrom(f.resultKind(len(args)), args...), nil
	}
	budget := budgetOf(ctx)
	if grows := growth[f.Name]; grows != nil && budget != nil {
		if err := budget.Fits(grows(plain)); err != nil {
			return value.Null, err
		}
	}
	result, err := f.Eval(ctx, env, plain)
	if err != nil {
		return value.Null, f.fault(err, args)
	}
	if err := budget.Made(result); err != nil {
		return value.Null, err
	}
	for _, arg := range lifted {
		result = result.DependingOn(arg.AllDeps()...)
		if arg.ContainsSecret() {
			result = result.Secret()
		}
	}
	return withUnused(result, args), nil
}

// withUnused returns a result that depends on everything that its arguments depend on, including the parts that do not
// occur in the result: they may have decided the result, and the order of deletions has to respect that (L5.36).
func withUnused(result value.Value, args []value.Value) value.Value {
	has := result.AllDeps()
	for _, arg := range args {
		for _, u := range arg.AllDeps() {
			if _, found := slices.BinarySearch(has, u); !found {
				result = result.DependingOn(u)
			}
		}
	}
	return result
}

// ApplyLazy calls f with arguments that are evaluated on demand. For a function without Lazy it evaluates all of them,
// in order. It returns errors of thunks unchanged.
func ApplyLazy(ctx context.Context, env Env, f *Func, args []Thunk) (value.Value, error) {
	if f.Lazy != nil {
		if err := f.arity(len(args)); err != nil {
			return value.Null, err
		}
		result, err := f.Lazy(ctx, env, args)
		if failure, ok := errors.AsType[*Error](err); ok && failure.Func == nil {
			failure.Func = f
		}
		return result, err
	}
	values := make([]value.Value, len(args))
	for i, arg := range args {
		var err error
		if values[i], err = arg(ctx); err != nil {
			return value.Null, err
		}
	}
	return Apply(ctx, env, f, values)
}

func (f *Func) arity(n int) error {
	least, most := f.Min(), f.Max()
	if n >= least && (most < 0 || n <= most) {
		return nil
	}
	wants := fmt.Sprint(least)
	switch {
	case most < 0:
		wants = "at least " + wants
	case most > least:
		wants += " to " + fmt.Sprint(most)
	}
	plural := "s"
	if least == 1 && most <= 1 {
		plural = ""
	}
	return &Error{Func: f, Arg: -1, Reason: fmt.Sprintf("takes %s argument%s, not %d", wants, plural, n)}
}

// fault adds the function to an error of its body and removes the text of secret arguments.
func (f *Func) fault(err error, args []value.Value) error {
	failure := (*Error)(nil)
	if !errors.As(err, &failure) {
		failure = &Error{Arg: -1, Reason: err.Error(), Err: err}
		for _, arg := range args {
			if arg.ContainsSecret() {
				failure.Reason = "failed; the reason is not shown because an argument is secret"
			}
		}
	}
	clean := *failure
	clean.Func = f
	for _, arg := range args {
		if arg.ContainsSecret() {
			clean.Shown, clean.Detail = "", ""
		}
	}
	return &clean
}
