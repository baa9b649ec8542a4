package builtins

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// dateFuncs compute with moments in time, which are texts as RFC 3339 writes them. None asks for the time of day: the
// same program means the same tomorrow.
var dateFuncs = []*Func{
	{
		Name:    "formatDate",
		Summary: "A timestamp in another format.",
		Params: []Param{
			{Name: "layout", Type: schema.String,
				Doc: "the format: YYYY year, MM month, MMM its name, DD day, EEE weekday, hh hour, HH hour of twelve, " +
					"mm minute, ss second, AA AM or PM, ZZZZ offset; other letters between single quotes"},
			{Name: "moment", Type: schema.String, Doc: "the timestamp, such as 2026-08-03T10:30:00Z"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::formatDate: ["DD MMM YYYY, hh:mm", "2026-08-03T10:30:00Z"]`,
		Call:    `formatDate("DD MMM YYYY, hh:mm", "2026-08-03T10:30:00Z")`,
		Gives:   `"03 Aug 2026, 10:30"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(ctx context.Context, env Env, args []value.Value) (value.Value, error) {
			if _, err := moment(args, 1, "moment"); err != nil {
				return value.Null, err
			}
			return throughCty(stdlib.FormatDateFunc)(ctx, env, args)
		},
	},
	{
		Name:    "timeAdd",
		Summary: "The timestamp that is a duration after another one.",
		Params: []Param{
			{Name: "moment", Type: schema.String, Doc: "the timestamp to count from, such as 2026-08-03T10:30:00Z"},
			{Name: "duration", Type: schema.String, Doc: "how much later, such as 90m or 1h30m; -24h is a day earlier"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::timeAdd: ["2026-08-03T10:30:00Z", 36h]`,
		Call:    `timeAdd("2026-08-03T10:30:00Z", "36h")`,
		Gives:   `"2026-08-04T22:30:00Z"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			at, err := moment(args, 0, "moment")
			if err != nil {
				return value.Null, err
			}
			later, err := time.ParseDuration(str(args[1]))
			if err != nil {
				return value.Null, blameText(1, str(args[1]), "duration: must be numbers with the units h, m and s, such as 1h30m")
			}
			return value.String(at.Add(later).Format(time.RFC3339)), nil
		},
	},
	{
		Name:    "timeCompare",
		Summary: "Which of two timestamps is earlier: -1 for the first, 1 for the second, 0 when both are equal.",
		Params: []Param{
			{Name: "first", Type: schema.String, Doc: "a timestamp, such as 2026-08-03T10:30:00Z"},
			{Name: "second", Type: schema.String, Doc: "another timestamp; offsets are taken into account"},
		},
		Shape:   Positional,
		Result:  always(schema.Integer),
		Example: `fn::timeCompare: ["2026-08-03T10:30:00Z", "2026-08-03T12:30:00+02:00"]`,
		Call:    `timeCompare("2026-08-03T10:30:00Z", "2026-08-03T12:30:00+02:00")`,
		Gives:   `0`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			var moments [2]time.Time
			for i, name := range [...]string{"first", "second"} {
				var err error
				if moments[i], err = moment(args, i, name); err != nil {
					return value.Null, err
				}
			}
			return value.Int(moments[0].Compare(moments[1])), nil
		},
	},
}

// moment reads the i-th argument.
func moment(args []value.Value, i int, name string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, str(args[i]))
	if err != nil {
		return at, blameText(i, str(args[i]), "%s: must be a timestamp such as 2026-08-03T10:30:00Z", name)
	}
	return at, nil
}
