package embedded

import (
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
	moments, counts := checkMoments("baseRfc3339"), checkSpans(offsetSpans(), -math.MaxInt32)
	k := c.datedKind("baseRfc3339", offsetOutputs)
	k.foreseeable, k.replaces, k.adopt = true, onNewTriggers, adoptOffset
	k.check = func(inputs value.Value) []provider.Failure { return append(moments(inputs), counts(inputs)...) }
	return k
}

func offsetOutputs(inputs value.Value, base time.Time) (value.Value, error) {
	t := base
	for _, s := range offsetSpans() {
		t = s.add(t, wholeOf(inputs, s.property))
	}
	return parts(t).With("rfc3339", rfc3339(t)).With("baseRfc3339", rfc3339(base)), nil
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
	outputs, err := offsetOutputs(inputs, base)
	return fields[0], overlay(inputs, outputs), err
}
