package builtins

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/value"
)

// patternEvals are the functions on regular expressions. The syntax is RE2's, so that matching takes linear time. The
// value of a match is the same as in the cty library: the matched text if the pattern has no groups, a map of the
// groups if they are named, and a list of them otherwise.
var patternEvals = map[string]evalFunc{
	"regex": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		p, err := compile(args[0])
		if err != nil {
			return value.Null, err
		}
		found := p.FindStringSubmatchIndex(str(args[1]))
		if found == nil {
			return value.Null, blameText(1, str(args[1]),
				"text: nothing in it matches the pattern; use fn::regexAll if that may happen")
		}
		return p.Match(str(args[1]), found, value.Null), nil
	},
	"regexAll": func(ctx context.Context, _ Env, args []value.Value) (value.Value, error) {
		p, err := compile(args[0])
		if err != nil {
			return value.Null, err
		}
		found, err := allMatches(ctx, p.Regexp, str(args[1]))
		if err != nil {
			return value.Null, err
		}
		items := make([]value.Value, len(found))
		for i, loc := range found {
			items[i] = p.Match(str(args[1]), loc, value.Null)
		}
		return value.List(items...), nil
	},
	"regexReplace": func(ctx context.Context, _ Env, args []value.Value) (value.Value, error) {
		p, err := regexp.Compile(str(args[1]))
		if err != nil {
			return value.Null, badPattern(1, err)
		}
		text, err := replaced(ctx, p, str(args[0]), str(args[2]))
		return value.String(text), err
	},
}

// allMatches returns the positions of all matches and their groups. It returns an error if their list would exceed the
// size limit of a value.
func allMatches(ctx context.Context, re *regexp.Regexp, text string) ([][]int, error) {
	budget, most := budgetOf(ctx), -1
	size := int64(itemSize * (re.NumSubexp() + 1))
	if budget != nil {
		most = int(budget.ValueLimit()/size) + 1
	}
	found := re.FindAllStringSubmatchIndex(text, most)
	return found, budget.Within(int64(len(found)) * size)
}

// replaced returns text with all matches replaced. It returns an error if the result would exceed the size limit of a
// value.
func replaced(ctx context.Context, re *regexp.Regexp, text, template string) (string, error) {
	found, err := allMatches(ctx, re, text)
	if err != nil {
		return "", err
	}
	var out []byte
	last, groups := 0, strings.Count(template, "$")
	for _, loc := range found {
		grows := int64(len(out)) + int64(len(template)) + int64(groups)*int64(loc[1]-loc[0])
		if err := budgetOf(ctx).Within(grows); err != nil {
			return "", err
		}
		out = re.ExpandString(append(out, text[last:loc[0]]...), template, text, loc)
		last = loc[1]
	}
	return string(append(out, text[last:]...)), nil
}

func compile(text value.Value) (*functions.Pattern, error) {
	p, err := functions.CompilePattern(str(text))
	if errors.Is(err, functions.ErrGroups) {
		return nil, blame(0, "pattern: name all of its groups, or none; write a group that captures nothing as (?:…)")
	}
	if err != nil {
		return nil, badPattern(0, err)
	}
	return p, nil
}

// badPattern returns the error about a malformed regular expression. Its Reason does not quote the expression.
func badPattern(arg int, err error) error {
	failure := &Error{Arg: arg, Reason: "pattern: is not a regular expression"}
	if fault, ok := errors.AsType[*syntax.Error](err); ok {
		failure.Reason += ", " + fault.Code.String()
		failure.Shown = fault.Expr
	}
	return failure
}
