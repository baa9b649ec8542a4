package eval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/patient"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// spending is the budget of an evaluation. It reports once that the steps are spent.
type spending struct {
	*builtins.Budget
	reported atomic.Bool
}

// paying returns ctx with the budget of the evaluation, from which functions pay. Engines call transforms and hooks
// with contexts of their own.
func (s *spending) paying(ctx context.Context) context.Context {
	return builtins.WithBudget(ctx, s.Budget)
}

// step counts an evaluation step for an expression; it returns a fault once the run is over. Only one place reports
// that the steps are spent.
func (e *evaluator) step(expr ast.Expr) *fault {
	if e.over.Load() {
		return shutdown
	}
	if err := e.budget.Spend(1); err != nil {
		return e.budget.overspent(err, expr.Range())
	}
	return nil
}

// made pays for a value that an expression has put together.
func (s *spending) made(v value.Value, rng diag.Range) (value.Value, *fault) {
	if err := s.Made(v); err != nil {
		return value.Null, s.overspent(err, rng)
	}
	return v, nil
}

// overspent is the fault behind a *builtins.BudgetError; nil for any other error.
func (s *spending) overspent(err error, rng diag.Range) *fault {
	var spent *builtins.BudgetError
	if !errors.As(err, &spent) {
		return nil
	}
	if spent.Steps && !s.reported.CompareAndSwap(false, true) {
		return shutdown // it was reported
	}
	f := blame(diag.BudgetExceeded, rng, spent.Detail(), "%s", spent)
	if spent.Steps {
		f.cause = over
	}
	return f
}

// readFile reads a file that is not larger than a value may be, also one that says nothing of its size or has no end.
func (e *evaluator) readFile(ctx context.Context, path string) ([]byte, error) {
	limit := e.budget.ValueLimit()
	if e.options.ReadFile != nil {
		data, err := e.options.ReadFile(path)
		if int64(len(data)) > limit {
			return nil, &builtins.BudgetError{Limit: limit}
		}
		return data, err
	}
	data, err := patient.ReadFileUpTo(ctx, path, limit)
	if errors.Is(err, patient.ErrTooLarge) {
		return nil, &builtins.BudgetError{Limit: limit}
	}
	return data, err
}
