package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// An error with the same cause for many resources is shown once, with their names. Faults of single properties and
// errors with other causes are not joined.
func TestOneCauseIsToldOnce(t *testing.T) {
	t.Parallel()
	var events []engine.Event
	fail := func(name, property, text string) {
		s := made(engine.OpCreate, "", "kubernetes:core/v1:ConfigMap", name, 1)
		events = append(events, &engine.StepStarted{Step: s}, &engine.StepFailed{Step: s},
			&engine.Message{URN: s.URN, Severity: diag.Error, Text: text, Property: property})
	}
	for i := range 8 {
		name := fmt.Sprint("map", i)
		fail(name, "", fmt.Sprintf("create of %s failed:\n Post \"https://127.0.0.1:1/api/v1/namespaces/n/configmaps/%s-x1y2?a=b\""+
			": connection refused", name, name))
	}
	fail("quota", "", "exceeded quota")
	for i := range 3 {
		fail(fmt.Sprint("bad", i), "data", "wrong")
	}
	events = append(events, &engine.Summary{Result: "failed"}, &engine.Finished{})
	_, errs := showing(Options{}, events)
	require.Equal(t, 1, strings.Count(errs, "connection refused"), errs)
	require.Contains(t, errs, "create of map0 failed")
	require.Contains(t, errs, "the same happened to 7 more resources: map1, map2, map3, map4, map5, map6, map7")
	require.Equal(t, 1, strings.Count(errs, "exceeded quota"))
	require.Equal(t, 3, strings.Count(errs, ": wrong"), errs)
}

// A secret that is a common word is masked in messages, but not in names and types of resources, whose columns keep
// their widths.
func TestCommonWordsAsSecrets(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	m := mask.New(value.String("left").Secret(), value.String("word").Secret())
	v := New(Options{Out: &out, Err: &errs, Operation: "Updating", Stack: "dev", Mask: m})
	s := made(engine.OpCreate, "", "a:b:Password", "left-door", 1)
	stack := &engine.Summary{Result: "failed"}
	for _, e := range []engine.Event{&engine.Prelude{}, &engine.StepStarted{Step: s}, &engine.StepFinished{Step: s, Op: s.Op},
		&engine.Message{URN: s.URN, Severity: diag.Error, Text: "creating " + string(s.URN) + ": turn left, not right"},
		stack, &engine.Finished{}} {
		v.Event(e)
	}
	v.Close()
	require.Contains(t, errs.String(), "+  left-door                a:b:Password                 created")
	require.Contains(t, errs.String(), "creating "+string(s.URN)+": turn [secret], not right")
}

// In a log, a long type also widens the column for the following lines, so that the statuses stay aligned.
func TestLongTypesInALog(t *testing.T) {
	t.Parallel()
	long := made(engine.OpCreate, "", "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", "binding", 1)
	short := made(engine.OpCreate, "", "kubernetes:core/v1:Secret", "token", 2)
	var events []engine.Event
	for _, s := range []*engine.Step{long, short} {
		events = append(events, &engine.StepStarted{Step: s}, &engine.StepFinished{Step: s, Op: s.Op})
	}
	_, errs := showing(Options{}, append(events, &engine.Summary{Result: "succeeded"}, &engine.Finished{}))
	var columns []int
	log, _, _ := strings.Cut(strings.TrimPrefix(errs, "Previewing update of stack dev\n\n"), "\n\n")
	for line := range strings.SplitSeq(log, "\n") {
		if i := strings.Index(line, " created"); i >= 0 && strings.Contains(line, "+") {
			columns = append(columns, i)
		}
	}
	require.Len(t, columns, 2, errs)
	require.Equal(t, columns[0], columns[1], errs)
}

// For a changed output whose two texts are equal, such as a masked secret, the text is shown once.
func TestEqualTextsOfAnOutput(t *testing.T) {
	t.Parallel()
	require.Equal(t, "[secret] (changed)", Output{Sign: "~", Before: "[secret]", After: "[secret]"}.Text())
	require.Equal(t, "1 => 2", Output{Sign: "~", Before: "1", After: "2"}.Text())
	ref := func(id value.Value) value.Value {
		return value.Resource(&value.ResourceRef{URN: urn.New("dev", "p", "", "a:b:C", "c"), ID: id})
	}
	require.True(t, sameOutput(value.List(ref(value.String("1"))), value.List(ref(value.String("1")))))
	require.False(t, sameOutput(ref(value.String("1")), ref(value.Unknown(value.KindString))), "it is replaced")
}
