package embedded

import (
	"errors"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// rotatingKind is a time that is replaced after its rotation time, which is a span later. The replacement happens in
// the next run after the rotation time.
func (c calendar) rotatingKind() kind {
	moments, counts := checkMoments("rfc3339", "rotationRfc3339"), checkSpans(rotationSpans(), 1, "rotationRfc3339")
	expired := func(outputs value.Value) bool {
		end, err := parseMoment(lookupString(outputs, "rotationRfc3339"))
		return err == nil && c.Now().After(end)
	}
	k := c.datedKind("rfc3339", rotatingOutputs)
	k.computed, k.foreseeable, k.adopt = []string{"rfc3339", "rotationRfc3339"}, true, adoptRotating
	k.check = func(inputs value.Value) []provider.Failure { return append(moments(inputs), counts(inputs)...) }
	k.replaces = func(property string, before, after value.Value) bool {
		return property == "rfc3339" || onNewTriggers(property, before, after)
	}
	k.stale = func(_, outputs value.Value) string {
		if expired(outputs) {
			return "rotationRfc3339"
		}
		return ""
	}
	// As in the public package, a resource no longer exists after its rotation time.
	k.read = func(outputs value.Value) (value.Value, bool) { return outputs, !expired(outputs) }
	return k
}

// rotationSpans are in increasing precedence: only the last span that is given counts, as in the public package
// (TestOneRotationCounts). rotationRfc3339 takes precedence over all spans except years.
func rotationSpans() []span {
	return []span{
		{"rotationDays", days(0, 0, 1)}, {"rotationHours", clock(time.Hour)}, {"rotationMinutes", clock(time.Minute)},
		{"rotationMonths", days(0, 1, 0)}, {"rotationYears", days(1, 0, 0)},
	}
}

// rotatingOutputs returns the outputs. The parts are those of the rotation time, not of the base time.
func rotatingOutputs(inputs value.Value, base time.Time) (value.Value, error) {
	end := base
	for _, s := range rotationSpans() {
		if n := wholeOf(inputs, s.property); n != 0 {
			end = s.add(base, n)
		}
	}
	if text := lookupString(inputs, "rotationRfc3339"); text != "" && wholeOf(inputs, "rotationYears") == 0 {
		var err error
		if end, err = parseMoment(text); err != nil {
			return value.Null, failed(err)
		}
	}
	return parts(end).With("rfc3339", rfc3339(base)).With("rotationRfc3339", rfc3339(end)), nil
}

// adoptRotating imports a base time and either five spans, from years to minutes, or the rotation time.
func adoptRotating(id string) (string, value.Value, error) {
	fields := strings.Split(id, ",")
	if len(fields) != 2 && len(fields) != 6 {
		return "", value.Null, errors.New(
			"the ID must be {base},{years},{months},{days},{hours},{minutes}, where all but one of the numbers may be empty, " +
				"or {base},{rotation}")
	}
	base, err := parseMoment(fields[0])
	if err != nil {
		return "", value.Null, err
	}
	var inputs value.Value
	if len(fields) == 2 {
		if _, err := parseMoment(fields[1]); err != nil {
			return "", value.Null, err
		}
		inputs = value.MapOf(value.Entry{Key: "rotationRfc3339", Value: value.String(fields[1])})
	} else if inputs, err = adoptSpans(
		[]string{"rotationYears", "rotationMonths", "rotationDays", "rotationHours", "rotationMinutes"}, fields[1:]); err != nil {
		return "", value.Null, err
	}
	outputs, err := rotatingOutputs(inputs, base)
	return fields[0], overlay(inputs, outputs), err
}
