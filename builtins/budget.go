package builtins

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// Limits bounds the cost of one evaluation of a program, whether it comes from repetition, nesting, files or formatted
// text.
type Limits struct {
	Value       int64 // maximum size of one value in bytes, as measured by value.Size
	Steps       int64 // evaluated expressions plus units of 32 bytes created
	PerResource int64 // additional steps for each registered resource
}

// DefaultLimits are the limits for a trusted program. They suffice for a hundred thousand resources.
var DefaultLimits = Limits{Value: 256 << 20, Steps: 10_000_000, PerResource: 10_000}

// UntrustedLimits are the limits for an untrusted program.
var UntrustedLimits = Limits{Value: 64 << 20, Steps: 2_000_000, PerResource: 10_000}

// bytesPerStep is the number of created bytes that cost one step.
const bytesPerStep = 32

// BudgetError is returned if a program exceeds one of its limits.
type BudgetError struct {
	Limit int64
	Steps bool // the limit of steps is exceeded, rather than the size of a value or of all outputs
	// Outputs reports whether the size of all outputs together is exceeded.
	Outputs bool
}

// Error returns a message that names the exceeded limit.
func (e *BudgetError) Error() string {
	switch {
	case e.Steps:
		return fmt.Sprintf("evaluating the program takes more than %s", diag.Count(int(e.Limit), "step"))
	case e.Outputs:
		return fmt.Sprintf("the outputs together would be larger than %s", bytesText(e.Limit))
	}
	return fmt.Sprintf("the value would be larger than %s", bytesText(e.Limit))
}

// Detail returns advice on how to stay within the limit.
func (e *BudgetError) Detail() string {
	switch {
	case e.Steps:
		return "make the program do less, or raise the limit: `yamlhost up --max-steps N`"
	case e.Outputs:
		return "make them smaller, or raise the limit, which is half of that of `yamlhost up --max-value N`"
	}
	return "make the value smaller, or raise the limit: `yamlhost up --max-value N`"
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return diag.Count(int(n), "byte")
}

// Budget tracks the cost of one evaluation against its limits. It is safe for concurrent use. A nil Budget has no
// limits.
type Budget struct {
	limits Limits
	left   atomic.Int64 // steps
	total  atomic.Int64 // all steps granted
}

// NewBudget returns the budget of one evaluation. A limit of 0 means the one of DefaultLimits.
func NewBudget(limits Limits) *Budget {
	limits.Value = cmp.Or(limits.Value, DefaultLimits.Value)
	limits.Steps = cmp.Or(limits.Steps, DefaultLimits.Steps)
	limits.PerResource = cmp.Or(limits.PerResource, DefaultLimits.PerResource)
	b := &Budget{limits: limits}
	b.left.Store(b.limits.Steps)
	b.total.Store(b.limits.Steps)
	return b
}

// Spend charges steps. It returns a *BudgetError if there are not enough left.
func (b *Budget) Spend(steps int64) error {
	if b == nil || b.left.Add(-steps) >= 0 {
		return nil
	}
	return &BudgetError{Limit: b.total.Load(), Steps: true}
}

// GrantResource adds the steps that one registered resource allows.
func (b *Budget) GrantResource() {
	if b != nil {
		b.left.Add(b.limits.PerResource)
		b.total.Add(b.limits.PerResource)
	}
}

// Within returns a *BudgetError if a value of that size exceeds the limit. It charges nothing.
func (b *Budget) Within(bytes int64) error {
	if b == nil || bytes <= b.limits.Value {
		return nil
	}
	return &BudgetError{Limit: b.limits.Value}
}

// WithinOutputs returns a *BudgetError if that size is too large for all outputs of a stack together. The limit is half
// of the one for a single value, because the new state, the old state and the serialized text each hold a copy.
func (b *Budget) WithinOutputs(bytes int64) error {
	if b == nil || bytes <= b.limits.Value/2 {
		return nil
	}
	return &BudgetError{Limit: b.limits.Value / 2, Outputs: true}
}

// Fits checks the size of a value before it is created, and charges the steps that creating it costs.
func (b *Budget) Fits(bytes int64) error {
	switch {
	case b == nil:
		return nil
	case bytes > b.limits.Value || bytes < 0:
		return &BudgetError{Limit: b.limits.Value}
	}
	return b.Spend(bytes / bytesPerStep)
}

// Made is like Fits for a value that already exists and may share parts with others.
func (b *Budget) Made(v value.Value) error {
	if b == nil {
		return nil
	}
	return b.Fits(value.Size(v, b.limits.Value+1))
}

// ValueLimit returns the maximum size of one value in bytes.
func (b *Budget) ValueLimit() int64 { return b.limits.Value }

type budgetKey struct{}

// WithBudget returns a context in which function calls are charged to b.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

func budgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// growth holds, for functions whose results can be much larger than their arguments, a function that returns an upper
// bound of the result's size in bytes.
var growth = map[string]func(args []value.Value) int64{
	"join": func(args []value.Value) int64 {
		items, _ := args[1].AsList()
		n := int64(max(0, len(items)-1)) * int64(len(str(args[0])))
		for _, item := range items {
			n += int64(len(str(item))) + 8 // upper bound for a number or a boolean
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

// itemSize is the size of a list item besides its text while the list is built.
const itemSize = 48

func grown(text string, times, added int) int64 { return int64(len(text)) + int64(times)*int64(added) }

// parsed returns the size of a text that is split at every occurrence of one of the characters in marks.
func parsed(text, marks string) int64 {
	n := 0
	for i := range len(marks) {
		n += strings.Count(text, marks[i:i+1])
	}
	return grown(text, n+1, itemSize)
}
