package embedded

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// calendar implements the package time: points in time that the state records. The ID of a resource is its base time.
type calendar struct{ Options }

// timeKinds returns the package time.
func timeKinds(o Options) kinds {
	c := calendar{o}
	static := c.datedKind("rfc3339", staticOutputs)
	static.replaces, static.check, static.adopt = unlessNoTriggers, checkMoments("rfc3339"), adoptStatic
	static.update = nil // its time never changes
	return kinds{resources: map[string]kind{
		"time:index/static:Static":     static,
		"time:index/offset:Offset":     c.offsetKind(),
		"time:index/rotating:Rotating": c.rotatingKind(),
		"time:index/sleep:Sleep":       c.sleepKind(),
	}}
}

// unlessNoTriggers reports whether a change replaces the resource: every change does, except between absent and empty
// triggers.
func unlessNoTriggers(property string, before, after value.Value) bool {
	return property != "triggers" || !before.IsKnown() || !after.IsKnown() || before.Len()+after.Len() > 0
}

// onNewTriggers reports whether a change replaces a resource that only new triggers replace.
func onNewTriggers(property string, before, after value.Value) bool {
	return property == "triggers" && unlessNoTriggers(property, before, after)
}

// datedKind returns the kind of a resource whose ID is a base time: that of the input property or else the current
// time. outputs returns the outputs for inputs and a base time.
func (c calendar) datedKind(property string, outputs func(value.Value, time.Time) (value.Value, error)) kind {
	return kind{
		byOutputs: true, idOutput: true, computed: []string{property},
		create: func(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
			base := c.Now().UTC().Truncate(time.Second)
			if text := lookupString(inputs, property); text != "" {
				var err error
				if base, err = parseMoment(text); err != nil {
					return "", value.Null, failed(err)
				}
			}
			made, err := outputs(inputs, base)
			return base.Format(time.RFC3339), made, err
		},
		update: func(_ context.Context, _ provider.Subject, inputs, before value.Value) (value.Value, error) {
			base, err := parseMoment(lookupString(overlay(before.MapOrEmpty(), inputs), property))
			if err != nil {
				return value.Null, failed(err)
			}
			return outputs(inputs, base)
		},
	}
}

// checkMoments returns a check that properties, if they are given and known, are timestamps.
func checkMoments(properties ...string) func(value.Value) []provider.Failure {
	return func(inputs value.Value) []provider.Failure { return checkTexts(inputs, parseMoment, properties...) }
}

// checkTexts checks that properties, if they are given and known, can be parsed.
func checkTexts[T any](inputs value.Value, parse func(string) (T, error), properties ...string) []provider.Failure {
	var failures []provider.Failure
	for _, property := range properties {
		if text, ok := inputs.Get(property).AsString(); ok {
			if _, err := parse(text); err != nil {
				failures = append(failures, provider.Failure{Property: property, Reason: property + ": " + err.Error()})
			}
		}
	}
	return failures
}

func parseMoment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%q is not a timestamp such as 2006-01-02T15:04:05Z", text)
	}
	return t, nil
}

// parts returns the parts of a time in its own time zone, and its Unix time. Months and days begin at 1.
func parts(t time.Time) value.Value {
	return value.MapOf(
		value.Entry{Key: "year", Value: value.Int(t.Year())}, value.Entry{Key: "month", Value: value.Int(int(t.Month()))},
		value.Entry{Key: "day", Value: value.Int(t.Day())}, value.Entry{Key: "hour", Value: value.Int(t.Hour())},
		value.Entry{Key: "minute", Value: value.Int(t.Minute())}, value.Entry{Key: "second", Value: value.Int(t.Second())},
		value.Entry{Key: "unix", Value: value.Int(int(t.Unix()))},
	)
}

func rfc3339(t time.Time) value.Value { return value.String(t.Format(time.RFC3339)) }

func staticOutputs(_ value.Value, t time.Time) (value.Value, error) {
	return parts(t).With("rfc3339", rfc3339(t)), nil
}

func adoptStatic(id string) (string, value.Value, error) {
	t, err := parseMoment(id)
	if err != nil {
		return "", value.Null, fmt.Errorf("the ID must be the timestamp: %w", err)
	}
	outputs, err := staticOutputs(value.Null, t)
	return id, outputs, err
}

// span is an input that holds a number of units of time. add adds n units to a base time.
type span struct {
	property string
	add      func(base time.Time, n int) time.Time
}

// days returns a function that adds n times a number of years, months and days, by the calendar.
func days(years, months, days int) func(time.Time, int) time.Time {
	return func(t time.Time, n int) time.Time { return t.AddDate(n*years, n*months, n*days) }
}

// clock returns a function that adds n times a fixed duration.
func clock(d time.Duration) func(time.Time, int) time.Time {
	return func(t time.Time, n int) time.Time { return t.Add(time.Duration(n) * d) }
}

// mostSpans limits the number in a span, so that a duration cannot overflow.
const mostSpans = math.MaxInt64 / int64(time.Hour)

// checkSpans returns a check that at least one of the spans or other properties is given, and that each span is at
// least least.
func checkSpans(spans []span, least float64, others ...string) func(value.Value) []provider.Failure {
	return func(inputs value.Value) []provider.Failure {
		var failures []provider.Failure
		given := false
		names := make([]string, 0, len(spans)+len(others))
		for _, s := range spans {
			names = append(names, s.property)
			failures = append(failures, checkWhole(inputs, s.property, least, float64(mostSpans))...)
		}
		names = append(names, others...)
		for _, name := range names {
			given = given || inputs.Has(name)
		}
		if !given {
			failures = append(failures, provider.Failure{Reason: "one of these must be given: " + strings.Join(names, ", ")})
		}
		return failures
	}
}

// adoptSpans parses the spans of an imported ID. An empty text is an absent span; at least one must not be zero.
func adoptSpans(properties, texts []string) (value.Value, error) {
	inputs := value.EmptyMap()
	for i, property := range properties {
		if texts[i] == "" {
			continue
		}
		n, err := strconv.ParseInt(texts[i], 10, 32)
		if err != nil {
			return value.Null, fmt.Errorf("%s must be a whole number, not %q", property, texts[i])
		}
		if n != 0 { // 0 means the same as an absent span
			inputs = inputs.With(property, value.Int(int(n)))
		}
	}
	if inputs.Len() == 0 {
		return value.Null, errors.New("the ID must give one of " + strings.Join(properties, ", "))
	}
	return inputs, nil
}
