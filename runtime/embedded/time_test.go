package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

const (
	staticType   = "time:index/static:Static"
	offsetType   = "time:index/offset:Offset"
	rotatingType = "time:index/rotating:Rotating"
	sleepType    = "time:index/sleep:Sleep"
)

var noon = time.Date(2026, 1, 31, 12, 30, 15, 999, time.UTC)

func atNoon() Options { return Options{Now: func() time.Time { return noon }} }

func TestStatic(t *testing.T) {
	t.Parallel()
	r := configure(t, "time", atNoon())
	id, outputs := r.create(staticType, obj())
	require.Equal(t, "2026-01-31T12:30:15Z", id)
	for name, want := range map[string]int{"year": 2026, "month": 1, "day": 31, "hour": 12, "minute": 30, "second": 15,
		"unix": 1769862615} {
		got, _ := lookupInt(outputs, name)
		require.Equal(t, want, got, name)
	}
	_, given := r.create(staticType, obj("rfc3339", "2020-02-12T06:36:13+02:00"))
	require.Equal(t, "2020-02-12T06:36:13+02:00", text(given, "rfc3339"))
	hour, _ := lookupInt(given, "hour")
	require.Equal(t, 6, hour, "parts are those of the moment's own zone")

	for _, c := range []struct {
		name       string
		olds, news value.Value
		changes    provider.Changes
		replace    bool
	}{
		{"nothing given, nothing kept from being filled in", obj(), obj(), provider.DiffNone, false},
		{"empty triggers are none", obj(), obj("triggers", obj()), provider.DiffSome, false},
		{"a trigger", obj("triggers", obj("a", "1")), obj("triggers", obj("a", "2")), provider.DiffSome, true},
		{"a moment", obj(), obj("rfc3339", "2020-02-12T06:36:13Z"), provider.DiffSome, true},
		{"a moment is no longer given", obj("rfc3339", "2020-02-12T06:36:13Z"), obj(), provider.DiffNone, false},
	} {
		_, outputs := r.create(staticType, c.olds)
		diff := r.diff(staticType, c.olds, outputs, c.news)
		require.Equal(t, c.changes, diff.Changes, c.name)
		require.Equal(t, c.replace, diff.Replace(), c.name)
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	r := configure(t, "time", atNoon())
	for _, c := range []struct {
		inputs value.Value
		want   string
	}{
		{obj("offsetYears", 1), "2027-01-31T12:30:15Z"}, {obj("offsetMonths", 1), "2026-03-03T12:30:15Z"},
		{obj("offsetDays", -31), "2025-12-31T12:30:15Z"}, {obj("offsetHours", 12), "2026-02-01T00:30:15Z"},
		{obj("offsetMinutes", 30), "2026-01-31T13:00:15Z"}, {obj("offsetSeconds", -15), "2026-01-31T12:30:00Z"},
		{obj("offsetDays", 0), "2026-01-31T12:30:15Z"},
		{obj("offsetDays", 1, "offsetHours", 1, "offsetMinutes", 1), "2026-02-01T13:31:15Z"},
		{obj("offsetMonths", 1, "offsetSeconds", 1), "2026-03-03T12:30:16Z"}, {obj("offsetDays", 1, "offsetMonths", 1),
			"2026-03-01T12:30:15Z"},
		{obj("offsetDays", 1, "baseRfc3339", "2020-02-28T00:00:00+01:00"), "2020-02-29T00:00:00+01:00"},
	} {
		_, outputs := r.create(offsetType, c.inputs)
		require.Equal(t, c.want, text(outputs, "rfc3339"))
	}
	// An update keeps the base time, and its preview knows the result.
	_, outputs := r.create(offsetType, obj("offsetDays", 1))
	later := configure(t, "time", Options{Now: func() time.Time { return noon.AddDate(1, 0, 0) }})
	require.False(t, later.diff(offsetType, obj("offsetDays", 1), outputs, obj("offsetDays", 2)).Replace())
	for _, preview := range []bool{true, false} {
		updated, err := later.Update(t.Context(), provider.UpdateRequest{
			Subject: subject(offsetType), ID: "x", OldOutputs: outputs, News: obj("offsetDays", 2), Preview: preview})
		require.NoError(t, err)
		require.Equal(t, "2026-02-02T12:30:15Z", text(updated.Outputs, "rfc3339"))
		require.Equal(t, "2026-01-31T12:30:15Z", text(updated.Outputs, "baseRfc3339"))
		require.Equal(t, "2026-01-31T12:30:15Z", text(updated.Outputs, "id"))
	}
	unknown, err := later.Update(t.Context(), provider.UpdateRequest{
		Subject: subject(offsetType), ID: "x", OldOutputs: outputs, News: obj("offsetDays", value.Unknown(value.KindNumber)),
		Preview: true})
	require.NoError(t, err)
	require.False(t, at(unknown.Outputs, "rfc3339").IsKnown())
	// A changed base time is an update in place too, as in the public package.
	moved := obj("offsetDays", 1, "baseRfc3339", "2020-02-28T00:00:00Z")
	diff := later.diff(offsetType, obj("offsetDays", 1), outputs, moved)
	require.Equal(t, []string{"baseRfc3339"}, diff.Diffs)
	require.False(t, diff.Replace())
	updated, err := later.Update(t.Context(), provider.UpdateRequest{Subject: subject(offsetType), ID: "x",
		OldOutputs: outputs, News: moved})
	require.NoError(t, err)
	require.Equal(t, "2020-02-29T00:00:00Z", text(updated.Outputs, "rfc3339"))
	require.Equal(t, "2020-02-28T00:00:00Z", text(updated.Outputs, "baseRfc3339"))
}

// If several rotation inputs are set, the same one applies as in the public package, so stacks can switch between both.
func TestOneRotationCounts(t *testing.T) {
	t.Parallel()
	r := configure(t, "time", atNoon())
	inputs := obj("rotationDays", 1)
	for _, next := range []string{"rotationHours", "rotationMinutes", "rotationMonths", "rotationYears"} {
		_, alone := r.create(rotatingType, obj(next, 1))
		inputs = inputs.With(next, value.Int(1))
		_, together := r.create(rotatingType, inputs)
		require.Equal(t, text(alone, "rotationRfc3339"), text(together, "rotationRfc3339"), next)
	}
	_, outputs := r.create(rotatingType, obj("rotationMonths", 1, "rotationRfc3339", "2030-01-01T00:00:00Z"))
	require.Equal(t, "2030-01-01T00:00:00Z", text(outputs, "rotationRfc3339"))
	_, outputs = r.create(rotatingType, obj("rotationYears", 1, "rotationRfc3339", "2030-01-01T00:00:00Z"))
	require.Equal(t, "2027-01-31T12:30:15Z", text(outputs, "rotationRfc3339"))
}

func TestRotating(t *testing.T) {
	t.Parallel()
	now := noon
	r := configure(t, "time", Options{Now: func() time.Time { return now }})
	inputs := obj("rotationDays", 30)
	_, outputs := r.create(rotatingType, inputs)
	require.Equal(t, "2026-01-31T12:30:15Z", text(outputs, "rfc3339"))
	require.Equal(t, "2026-03-02T12:30:15Z", text(outputs, "rotationRfc3339"))
	day, _ := lookupInt(outputs, "day")
	require.Equal(t, 2, day, "the parts are those of the rotation")

	exists := func() bool {
		response, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(rotatingType), ID: "x", Inputs: inputs,
			Outputs: outputs})
		require.NoError(t, err)
		return response.ID != ""
	}
	now = time.Date(2026, 3, 2, 12, 30, 15, 0, time.UTC)
	require.Equal(t, provider.DiffNone, r.diff(rotatingType, inputs, outputs, inputs).Changes)
	require.True(t, exists())
	// A changed span is an update in place and counts from the same base time.
	require.False(t, r.diff(rotatingType, inputs, outputs, obj("rotationDays", 60)).Replace())
	updated, err := r.Update(t.Context(), provider.UpdateRequest{Subject: subject(rotatingType), ID: "x",
		OldOutputs: outputs, News: obj("rotationDays", 60)})
	require.NoError(t, err)
	require.Equal(t, "2026-04-01T12:30:15Z", text(updated.Outputs, "rotationRfc3339"))
	require.Equal(t, provider.DiffNone, r.diff(rotatingType, obj("rotationDays", 60), updated.Outputs,
		obj("rotationDays", 60)).Changes)

	now = now.Add(time.Second)
	diff := r.diff(rotatingType, inputs, outputs, inputs)
	require.Equal(t, []string{"rotationRfc3339"}, diff.Replaces)
	require.False(t, exists(), "a refresh finds it gone")
	_, again := r.create(rotatingType, inputs)
	require.Equal(t, "2026-03-02T12:30:16Z", text(again, "rfc3339"),
		"the time that has passed in between is not made up for")
}

func TestTimeImports(t *testing.T) {
	t.Parallel()
	r := configure(t, "time", atNoon())
	for _, c := range []struct {
		typ, id, newID string
		inputs         value.Value
		output, want   string
	}{
		{staticType, "2020-02-12T06:36:13Z", "2020-02-12T06:36:13Z", obj(), "rfc3339", "2020-02-12T06:36:13Z"},
		{offsetType, "2020-02-12T06:36:13Z,0,,7,,,", "2020-02-12T06:36:13Z", obj("offsetDays", 7), "rfc3339",
			"2020-02-19T06:36:13Z"},
		{rotatingType, "2026-01-12T06:36:13Z,,,30,,", "2026-01-12T06:36:13Z", obj("rotationDays", 30), "rotationRfc3339",
			"2026-02-11T06:36:13Z"},
		{rotatingType, "2026-01-12T06:36:13Z,2027-01-01T00:00:00Z", "2026-01-12T06:36:13Z",
			obj("rotationRfc3339", "2027-01-01T00:00:00Z"), "rotationRfc3339", "2027-01-01T00:00:00Z"},
		{sleepType, "30s,", "2026-01-31T12:30:15Z", obj("createDuration", "30s"), "createDuration", "30s"},
		{sleepType, ",1.5h", "2026-01-31T12:30:15Z", obj("destroyDuration", "1.5h"), "destroyDuration", "1.5h"},
	} {
		response, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(c.typ), ID: c.id})
		require.NoError(t, err, c.id)
		require.Equal(t, c.newID, response.ID)
		require.Equal(t, c.want, text(response.Outputs, c.output))
		require.True(t, value.Equal(c.inputs, response.Inputs), "%s: %v", c.id, response.Inputs)
		require.Equal(t, provider.DiffNone, r.diff(c.typ, response.Inputs, response.Outputs, c.inputs).Changes, c.id)
	}
	for _, c := range []struct{ typ, id, why string }{
		{staticType, "today", "not a timestamp"}, {offsetType, "2020-02-12T06:36:13Z,1", "the ID must be"},
		{offsetType, "x,1,,,,,", "not a timestamp"},
		{offsetType, "2020-02-12T06:36:13Z,,,,,,", "one of"}, {offsetType, "2020-02-12T06:36:13Z,1.5,,,,,", "whole number"},
		{rotatingType, "2020-02-12T06:36:13Z", "the ID must be"}, {rotatingType, "2020-02-12T06:36:13Z,soon", "not a " +
			"timestamp"},
		{sleepType, "30s", "the ID must be"}, {sleepType, ",", "the ID must be"}, {sleepType, "soon,", "not a duration"},
	} {
		_, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(c.typ), ID: c.id})
		require.ErrorContains(t, err, c.why, c.id)
	}
}

func TestTimeFaults(t *testing.T) {
	t.Parallel()
	soon := value.Unknown(value.KindString)
	for _, c := range []struct {
		typ            string
		inputs         value.Value
		property, text string
	}{
		{staticType, obj("rfc3339", "2020-02-30T00:00:00Z"), "rfc3339", "not a timestamp"},
		{offsetType, obj(), "", "must be given"},
		{offsetType, obj("offsetDays", value.Number(1e18)), "offsetDays", "from"},
		{offsetType, obj("offsetDays", 1, "baseRfc3339", ""), "baseRfc3339", "not a timestamp"},
		{rotatingType, obj(), "", "must be given"}, {rotatingType, obj("rotationDays", 0), "rotationDays", "from 1"},
		{rotatingType, obj("rotationRfc3339", "never"), "rotationRfc3339", "not a timestamp"},
		{sleepType, obj(), "", "must be given"},
		{sleepType, obj("createDuration", "-1s"), "createDuration", "not a duration"},
		{sleepType, obj("destroyDuration", "1h30m"), "destroyDuration", "not a duration"},
		{sleepType, obj("createDuration", soon), "-", ""}, {staticType, obj("rfc3339", soon), "-", ""},
	} {
		r := configure(t, "time", Options{})
		response, err := r.Check(t.Context(), provider.CheckRequest{Subject: subject(c.typ), News: c.inputs,
			AllowUnknowns: true})
		require.NoError(t, err)
		if c.property == "-" {
			require.Empty(t, response.Failures)
			continue
		}
		require.Len(t, response.Failures, 1)
		require.Equal(t, c.property, response.Failures[0].Property)
		require.Contains(t, response.Failures[0].Reason, c.text)
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // its clock advances when all goroutines wait
		r := configure(t, "time", Options{})
		inputs := obj("createDuration", "20m", "destroyDuration", "2h")
		began := time.Now()
		_, outputs := r.create(sleepType, inputs)
		require.Equal(t, 20*time.Minute, time.Since(began))
		require.False(t, r.diff(sleepType, inputs, outputs, obj("createDuration", "1h")).Replace())
		require.True(t, r.diff(sleepType, inputs, outputs, inputs.With("triggers", obj("a", "b"))).Replace())
		began = time.Now()
		require.NoError(t, r.Delete(t.Context(), provider.DeleteRequest{Subject: subject(sleepType), ID: "x",
			Outputs: outputs}))
		require.Equal(t, 2*time.Hour, time.Since(began))
	})
}

// A cancelled context and the resource's time limit end a wait early, on create and on delete.
func TestSleepIsCutShort(t *testing.T) {
	t.Parallel()
	hour := obj("createDuration", "1h")
	for _, c := range []struct {
		name string
		call func(r rig, ctx context.Context) error
	}{
		{"interrupted", func(r rig, ctx context.Context) error {
			ctx, cancel := context.WithCancel(ctx)
			go cancel()
			_, err := r.Create(ctx, provider.CreateRequest{Subject: subject(sleepType), Inputs: hour})
			return err
		}},
		{"out of time", func(r rig, ctx context.Context) error {
			_, err := r.Create(ctx, provider.CreateRequest{Subject: subject(sleepType), Inputs: hour, Timeout: 0.01})
			return err
		}},
		{"while deleting", func(r rig, ctx context.Context) error {
			return r.Delete(ctx, provider.DeleteRequest{Subject: subject(sleepType), ID: "x",
				Outputs: obj("destroyDuration", "1h"), Timeout: 0.01})
		}},
	} {
		err := c.call(configure(t, "time", Options{}), t.Context())
		require.ErrorContains(t, err, "ended early", c.name)
		var failure *provider.Error
		require.True(t, errors.As(err, &failure) && failure.Outcome == provider.NothingHappened, c.name)
	}
}

// TestTimeSchemaIsPacked compares the packed schema of time with its source. go generate packs it.
func TestTimeSchemaIsPacked(t *testing.T) {
	t.Parallel()
	source := testfile.Bytes(t, "schemas/time.json")
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, source))
	packed, _ := Schema("time")
	require.Equal(t, compact.String(), string(packed), "run go generate ./runtime/embedded")
}

func FuzzTimeIDs(f *testing.F) {
	for _, id := range []string{"2020-02-12T06:36:13Z", "2020-02-12T06:36:13Z,0,,7,,,", "2026-01-12T06:36:13Z,,,30,,",
		"2026-01-12T06:36:13Z,2027-01-01T00:00:00Z", "30s,", ",1.5h"} {
		f.Add(id)
	}
	k := timeKinds(atNoon())
	f.Fuzz(func(t *testing.T, id string) {
		for token, kind := range k.resources {
			_, outputs, err := kind.adopt(id)
			if err != nil {
				continue
			}
			if kind.stale != nil {
				kind.stale(outputs, outputs)
			}
			if failures := kind.check(outputs); len(failures) > 0 && token != rotatingType && token != offsetType {
				t.Errorf("%s: what an import of %q finds would not pass: %v", token, id, failures)
			}
		}
	})
}
