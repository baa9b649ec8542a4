package builtins

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Limits bound the cost of one evaluation of a program, whatever causes it: repetition, nesting, files or formatted
// text.
type Limits struct {
	Value       int64 // bytes of one value, see value.Size
	Steps       int64 // expressions, and parts of 32 bytes that are made
	PerResource int64 // more steps for each resource that is registered
}

// DefaultLimits are for a program that is trusted. A hundred thousand resources never meet them.
var DefaultLimits = Limits{Value: 256 << 20, Steps: 10_000_000, PerResource: 10_000}

// UntrustedLimits are for a program that is not.
var UntrustedLimits = Limits{Value: 64 << 20, Steps: 2_000_000, PerResource: 10_000}

// bytesPerStep is how many bytes cost as much as an expression.
const bytesPerStep = 32

// BudgetError is returned when a program costs more than it may.
type BudgetError struct {
	Limit int64
	Steps bool // the limit of steps is used up; false for the limit of one value, or of the outputs together
	// Outputs reports whether it was the limit of the outputs.
	Outputs bool
}

// Error describes which limit was met.
func (e *BudgetError) Error() string {
	switch {
	case e.Steps:
		return fmt.Sprintf("evaluating the program takes more than %d steps", e.Limit)
	case e.Outputs:
		return fmt.Sprintf("the outputs together would be larger than %s", bytesText(e.Limit))
	}
	return fmt.Sprintf("the value would be larger than %s", bytesText(e.Limit))
}

// Detail describes how to correct it.
func (e *BudgetError) Detail() string {
	switch {
	case e.Steps:
		return "make the program do less, or raise the limit with --max-steps"
	case e.Outputs:
		return "make them smaller, or raise the limit, which is half of --max-value"
	}
	return "make the value smaller, or raise the limit with --max-value"
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Budget counts down the limits of one evaluation. It is safe for concurrent use; a nil one is without limits.
type Budget struct {
	limits Limits
	left   atomic.Int64 // steps
	total  atomic.Int64 // that there were
}

// NewBudget begins an evaluation. A limit of 0 stands for the one in DefaultLimits.
func NewBudget(limits Limits) *Budget {
	limits.Value = cmp.Or(limits.Value, DefaultLimits.Value)
	limits.Steps = cmp.Or(limits.Steps, DefaultLimits.Steps)
	limits.PerResource = cmp.Or(limits.PerResource, DefaultLimits.PerResource)
	b := &Budget{limits: limits}
	b.Renew()
	return b
}

// Renew gives back all steps, for an evaluation after another one.
func (b *Budget) Renew() {
	b.left.Store(b.limits.Steps)
	b.total.Store(b.limits.Steps)
}

// Spend takes steps; a *BudgetError says that there are none left.
func (b *Budget) Spend(steps int64) error {
	if b == nil || b.left.Add(-steps) >= 0 {
		return nil
	}
	return &BudgetError{Limit: b.total.Load(), Steps: true}
}

// GrantResource adds the steps of a resource.
func (b *Budget) GrantResource() {
	if b != nil {
		b.left.Add(b.limits.PerResource)
		b.total.Add(b.limits.PerResource)
	}
}

// Within checks that a value may be as large as that.
func (b *Budget) Within(bytes int64) error {
	if b == nil || bytes <= b.limits.Value {
		return nil
	}
	return &BudgetError{Limit: b.limits.Value}
}

// WithinOutputs checks that the outputs of a stack together have at most that size. The limit is half of a single
// value's, since the new state, the old state and the text that is written each hold a copy.
func (b *Budget) WithinOutputs(bytes int64) error {
	if b == nil || bytes <= b.limits.Value/2 {
		return nil
	}
	return &BudgetError{Limit: b.limits.Value / 2, Outputs: true}
}

// Fits checks, before a value is made, that it may be as large as that, and takes the steps that making it costs.
func (b *Budget) Fits(bytes int64) error {
	switch {
	case b == nil:
		return nil
	case bytes > b.limits.Value || bytes < 0:
		return &BudgetError{Limit: b.limits.Value}
	}
	return b.Spend(bytes / bytesPerStep)
}

// Made charges for a value that exists already and may share parts with others; else it is as Fits.
func (b *Budget) Made(v value.Value) error {
	if b == nil {
		return nil
	}
	return b.Fits(value.Size(v, b.limits.Value+1))
}

// ValueLimit returns the largest size of one value in bytes.
func (b *Budget) ValueLimit() int64 { return b.limits.Value }

type budgetKey struct{}

// WithBudget returns a context whose calls of functions are paid from a budget.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// growth tells, of functions whose results can be much larger than their arguments, how large a result will be at most,
// in bytes and before it is made.
var growth = map[string]func(args []value.Value) int64{
	"join": func(args []value.Value) int64 {
		items, _ := args[1].AsList()
		n := int64(max(0, len(items)-1)) * int64(len(str(args[0])))
		for _, item := range items {
			n += int64(len(str(item))) + 8 // of a number or a boolean
		}
		return n
	},
	"replace": func(args []value.Value) int64 {
		return grown(str(args[0]), strings.Count(str(args[0]), str(args[1])), len(str(args[2])))
	},
	"indent": func(args []value.Value) int64 {
		return grown(str(args[1]), strings.Count(str(args[1]), "\n"), clampInt(args[0]))
	},
	"repeat": func(args []value.Value) int64 { return int64(len(str(args[0]))) * int64(max(0, clampInt(args[1]))) },
	"split": func(args []value.Value) int64 {
		n := len(str(args[1]))
		if d := str(args[0]); d != "" {
			n = strings.Count(str(args[1]), d)
		}
		return grown(str(args[1]), n+1, itemSize)
	},
	"formatList": func(args []value.Value) int64 {
		rows := int64(1)
		for _, arg := range args[1:] {
			if arg.Is(value.KindList) {
				rows = int64(arg.Len())
			}
		}
		return rows * (int64(len(str(args[0]))) + itemSize)
	},
	"setProduct": func(args []value.Value) int64 {
		total := int64(1)
		for _, arg := range args {
			if total *= int64(arg.Len()); total > 1<<30 {
				return -1
			}
		}
		return total * int64(len(args)+1) * itemSize
	},
	"fromJSON": func(args []value.Value) int64 { return parsed(str(args[0]), ",[{") },
	"fromCSV":  func(args []value.Value) int64 { return parsed(str(args[0]), ",\n") },
	"fromYAML": func(args []value.Value) int64 { return parsed(str(args[0]), ",\n[{") * 4 },
}

// itemSize is the cost of an item of a list besides its text, while the list is built.
const itemSize = 48

func grown(text string, times, added int) int64 { return int64(len(text)) + int64(times)*int64(added) }

// parsed returns the cost of a text that splits into as many values as it has of some characters.
func parsed(text, marks string) int64 {
	n := 0
	for i := range len(marks) {
		n += strings.Count(text, marks[i:i+1])
	}
	return grown(text, n+1, itemSize)
}
