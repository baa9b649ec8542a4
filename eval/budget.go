package eval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// spending is the budget of an evaluation. It reports only once that the steps are exhausted.
type spending struct {
	*builtins.Budget
	reported atomic.Bool
}

// paying returns ctx with the evaluation's budget, which functions charge. Transforms and hooks need it because engines
// call them with contexts of their own.
func (s *spending) paying(ctx context.Context) context.Context {
	return builtins.WithBudget(ctx, s.Budget)
}

// step counts one evaluation step for an expression. It returns a fault once the run is over. The exhausted budget is
// reported at a single expression.
func (e *evaluator) step(expr ast.Expr) *fault {
	if e.over.Load() {
		return shutdown
	}
	if err := e.budget.Spend(1); err != nil {
		return e.budget.overspent(err, expr.Range())
	}
	return nil
}

// made charges the budget for a value that an expression has built.
func (s *spending) made(v value.Value, rng diag.Range) (value.Value, *fault) {
	if err := s.Made(v); err != nil {
		return value.Null, s.overspent(err, rng)
	}
	return v, nil
}

// overspent returns the fault for a *builtins.BudgetError, and nil for any other error.
func (s *spending) overspent(err error, rng diag.Range) *fault {
	var spent *builtins.BudgetError
	if !errors.As(err, &spent) {
		return nil
	}
	if spent.Steps && !s.reported.CompareAndSwap(false, true) {
		return shutdown // reported before
	}
	f := blame(diag.BudgetExceeded, rng, spent.Detail(), "%s", spent)
	if spent.Steps {
		f.cause = over
	}
	return f
}

// readFile reads a file up to the maximum size of a value.
func (e *evaluator) readFile(ctx context.Context, path string) ([]byte, error) {
	limit := e.budget.ValueLimit()
	if e.options.ReadFile != nil {
		data, err := e.options.ReadFile(path)
		if int64(len(data)) > limit {
			return nil, &builtins.BudgetError{Limit: limit}
		}
		return data, err
	}
	door := e.options.door()
	door.Limit = limit
	data, err := door.ReadFile(ctx, path)
	if _, tooLarge := errors.AsType[*confine.SizeError](err); tooLarge {
		return nil, &builtins.BudgetError{Limit: limit}
	}
	return data, err
}
