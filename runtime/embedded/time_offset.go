package embedded

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// offsetSpans are in the order in which they are added. The order matters at the ends of months: 31 January plus a day
// and then a month is 1 March; plus a month and then a day, it is 4 March.
func offsetSpans() []span {
	return []span{
		{"offsetDays", days(0, 0, 1)}, {"offsetHours", clock(time.Hour)}, {"offsetMinutes", clock(time.Minute)},
		{"offsetMonths", days(0, 1, 0)}, {"offsetSeconds", clock(time.Second)}, {"offsetYears", days(1, 0, 0)},
	}
}

// offsetKind is a time at an offset after or before a base time. Changes of the spans or the base update it in place.
func (c calendar) offsetKind() kind {
	spans := offsetSpans()
	moments, counts := checkMoments("baseRfc3339"), checkSpans(spans, -math.MaxInt32)
	return kind{
		byOutputs: true, idOutput: true, computed: []string{"baseRfc3339"}, foreseeable: true,
		check: func(inputs value.Value) []provider.Failure { return append(moments(inputs), counts(inputs)...) },
		replaces: func(property string, before, after value.Value) bool {
			return property == "triggers" && unlessNoTriggers(property, before, after)
		},
		create: func(_ context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
			base, err := c.base(inputs, "baseRfc3339")
			if err != nil {
				return "", value.Null, failed(err)
			}
			return base.Format(time.RFC3339), offsetOutputs(spans, inputs, base), nil
		},
		update: func(_ context.Context, _ provider.Subject, inputs, before value.Value) (value.Value, error) {
			base, err := parseMoment(lookupString(overlay(before.MapOrEmpty(), inputs), "baseRfc3339"))
			if err != nil {
				return value.Null, failed(err)
			}
			return offsetOutputs(spans, inputs, base), nil
		},
		adopt: adoptOffset,
	}
}

func offsetOutputs(spans []span, inputs value.Value, base time.Time) value.Value {
	t := base
	for _, s := range spans {
		t = s.add(t, wholeOf(inputs, s.property))
	}
	return parts(t).With("rfc3339", rfc3339(t)).With("baseRfc3339", rfc3339(base))
}

// adoptOffset imports a base time and six spans, from years to seconds.
func adoptOffset(id string) (string, value.Value, error) {
	fields := strings.Split(id, ",")
	if len(fields) != 7 {
		return "", value.Null, errors.New(
			"the ID must be {base},{years},{months},{days},{hours},{minutes},{seconds}, where all but one of the numbers may " +
				"be empty")
	}
	base, err := parseMoment(fields[0])
	if err != nil {
		return "", value.Null, err
	}
	inputs, err := adoptSpans([]string{"offsetYears", "offsetMonths", "offsetDays", "offsetHours", "offsetMinutes",
		"offsetSeconds"}, fields[1:])
	if err != nil {
		return "", value.Null, err
	}
	return fields[0], overlay(inputs, offsetOutputs(offsetSpans(), inputs, base)), nil
}
