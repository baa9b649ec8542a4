package builtins

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/yamlhost/yamlhost/internal/value"
)

// dateEvals are the functions on timestamps, which are strings in the format of RFC 3339. None reads the clock, so that
// a program always has the same meaning.
var dateEvals = map[string]evalFunc{
	"formatDate": func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
		if _, err := moment(args, 1, "moment"); err != nil {
			return value.Null, err
		}
		return throughCty(stdlib.FormatDateFunc)(ctx, env, args)
	},
	"timeAdd": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		t, err := moment(args, 0, "moment")
		if err != nil {
			return value.Null, err
		}
		later, err := time.ParseDuration(str(args[1]))
		if err != nil {
			return value.Null, blameText(1, str(args[1]), "duration: must be numbers with the units h, m and s, such as 1h30m")
		}
		return value.String(t.Add(later).Format(time.RFC3339)), nil
	},
	"timeCompare": func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
		var moments [2]time.Time
		for i, name := range [...]string{"first", "second"} {
			var err error
			if moments[i], err = moment(args, i, name); err != nil {
				return value.Null, err
			}
		}
		return value.Int(moments[0].Compare(moments[1])), nil
	},
}

// moment parses the i-th argument as a timestamp. name is the parameter's name.
func moment(args []value.Value, i int, name string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, str(args[i]))
	if err != nil {
		return t, blameText(i, str(args[i]), "%s: must be a timestamp such as 2026-08-03T10:30:00Z", name)
	}
	return t, nil
}
