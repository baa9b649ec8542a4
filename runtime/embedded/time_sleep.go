package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// sleepKind delays its dependants: it waits when it is created, before they are created, and when it is deleted, after
// they are deleted. Only new triggers make it wait again; changed durations apply to the next wait. A cancelled wait
// ends at once.
func (c calendar) sleepKind() kind {
	return kind{
		byOutputs: true, idOutput: true, check: checkDurations, replaces: onNewTriggers,
		create: func(ctx context.Context, _ provider.Subject, inputs value.Value) (string, value.Value, error) {
			if err := c.sleep(ctx, lookupString(inputs, "createDuration")); err != nil {
				return "", value.Null, err
			}
			return c.Now().UTC().Format(time.RFC3339), value.EmptyMap(), nil
		},
		delete: func(ctx context.Context, _ provider.Subject, outputs value.Value) error {
			return c.sleep(ctx, lookupString(outputs, "destroyDuration"))
		},
		adopt: c.adoptSleep,
	}
}

// durationForm matches a number with one unit. Go's format also allows several numbers and other units.
var durationForm = lazyregexp.New(`^[0-9]+(\.[0-9]+)?(ms|s|m|h)$`)

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !durationForm().MatchString(text) {
		return 0, fmt.Errorf("%q is not a duration: write a number and ms, s, m or h, such as 30s", text)
	}
	return d, nil
}

func checkDurations(inputs value.Value) []provider.Failure {
	failures := checkTexts(inputs, parseDuration, "createDuration", "destroyDuration")
	if !inputs.Has("createDuration") && !inputs.Has("destroyDuration") {
		failures = append(failures, provider.Failure{Reason: "one of createDuration and destroyDuration must be given"})
	}
	return failures
}

// sleep waits for a duration. It returns an error if ctx ends first.
func (c calendar) sleep(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	d, err := parseDuration(text)
	if err != nil {
		return failed(err)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return failed(fmt.Errorf("the wait of %s ended early: the resource's time limit is over", text))
		}
		return failed(fmt.Errorf("the wait of %s ended early", text))
	}
}

// adoptSleep imports two durations. One of them may be empty.
func (c calendar) adoptSleep(id string) (string, value.Value, error) {
	create, destroy, two := strings.Cut(id, ",")
	if !two || create == "" && destroy == "" {
		return "", value.Null, errors.New("the ID must be {createDuration},{destroyDuration}, where one may be empty")
	}
	outputs := value.EmptyMap()
	for property, text := range map[string]string{"createDuration": create, "destroyDuration": destroy} {
		if text == "" {
			continue
		}
		if _, err := parseDuration(text); err != nil {
			return "", value.Null, err
		}
		outputs = outputs.With(property, value.String(text))
	}
	return c.Now().UTC().Format(time.RFC3339), outputs, nil
}
