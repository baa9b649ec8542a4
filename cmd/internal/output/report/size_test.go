package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// many returns the events of a run with n resources: a third is created, a third updated, and the last one fails.
func many(n int) []engine.Event {
	stack := &engine.Step{Op: engine.OpSame, URN: viewtest.StackURN, Type: urn.RootStackType,
		Old: viewtest.Resource(viewtest.StackURN, value.EmptyMap()), New: viewtest.Resource(viewtest.StackURN, value.EmptyMap())}
	list := []engine.Event{&engine.Prelude{}, &engine.StepStarted{Step: stack},
		&engine.StepFinished{Step: stack, Op: engine.OpSame}}
	var before urn.URN
	counts := map[engine.Op]int{}
	for i := range n {
		u := urn.New("dev", "p", "", "aws:s3/bucketObject:BucketObject", fmt.Sprintf("service-%04d-of-the-%s-region", i,
			[]string{"east", "west"}[i%2]))
		inputs := func(port int) value.Value {
			return value.MapOf(value.Entry{Key: "name", Value: value.String(strings.Repeat("n", 60))},
				value.Entry{Key: "port", Value: value.Int(port)},
				value.Entry{Key: "policy", Value: value.String(fmt.Sprintf(`{"Version":"2012-10-17","Port":%d}`, port))})
		}
		s := &engine.Step{Op: engine.OpSame, URN: u, Type: u.Type(), Old: viewtest.Resource(u, inputs(80)),
			New: viewtest.Resource(u, inputs(80))}
		switch i % 3 {
		case 0:
			s.Op, s.Old = engine.OpCreate, nil
		case 1:
			s.Op, s.New = engine.OpUpdate, viewtest.Resource(u, inputs(8080))
		}
		if i%7 > 0 {
			s.New.Dependencies = []urn.URN{before}
		}
		before = u
		list = append(list, &engine.StepStarted{Step: s})
		if i == n-1 {
			list = append(list, &engine.Message{URN: u, Severity: diag.Error, Code: diag.OperationFailed,
				Text: "create failed: quota\nask for more"},
				&engine.StepFailed{Step: s})
			break
		}
		counts[s.Op]++
		list = append(list, &engine.StepFinished{Step: s, Op: s.Op})
	}
	return append(list, &engine.Summary{Changes: counts, Result: "failed"}, &engine.Finished{})
}

// For any number of resources, Markdown fits in a comment and names the failed one, and the page stays small and has
// all resources.
func TestReportsOfManyResources(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40, 150, 400, 2000, 20_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			text := written(t, "markdown", sampleOptions(), mask.New(), many(n), failedExit)
			require.Less(t, utf8.RuneCountInString(text), MarkdownLimit)
			require.Contains(t, text, "create failed: quota")
			require.Contains(t, text, "1 failed")
			if n == 40 {
				require.Contains(t, text, "port: 80 => 8080", "small plans are shown in full")
			}
			if n == 2000 {
				require.Contains(t, text, "service-0000-of-the-east-region", "rows are kept as long as they fit")
				require.Regexp(t, `\d+ update aws:s3:BucketObject|\d+ created aws:s3:BucketObject|\d+ updated aws:s3:BucketObject`,
					text, "the rest is counted by type")
			}
			if n > 2000 {
				return
			}
			page := written(t, "html", sampleOptions(), mask.New(), many(n), failedExit)
			require.Less(t, len(page), 2_000_000)
			require.Equal(t, n, strings.Count(page, `{"n":"service-`))
			require.NotRegexp(t, `(src|href)=|url\([^#]|@import|https?://[^w]`, page, "the page loads nothing")
		})
	}
}

// Text in names and values cannot end a script, cell or block of code.
func TestReportsHoldHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := "</script><img src=x onerror=alert(1)> | `tick` ``` @team ]]> &lt;"
	u := urn.New("dev", "p", "", "a:b:C", hostile)
	s := &engine.Step{Op: engine.OpCreate, URN: u, Type: u.Type(),
		New: viewtest.Resource(u, value.MapOf(value.Entry{Key: hostile, Value: value.String(hostile + "\n```\n" + hostile)}))}
	list := []engine.Event{&engine.Prelude{}, &engine.StepStarted{Step: s}, &engine.StepFinished{Step: s, Op: s.Op},
		&engine.Message{Severity: diag.Error, Text: hostile + "\n" + hostile},
		&engine.Summary{Changes: map[engine.Op]int{engine.OpCreate: 1}, Result: "failed"}, &engine.Finished{}}
	page := written(t, "html", sampleOptions(), mask.New(), list, failedExit)
	require.Equal(t, 2, strings.Count(page, "</script>"), "the data, and the script")
	require.NotContains(t, page, "<img")
	text := written(t, "markdown", sampleOptions(), mask.New(), list, failedExit)
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		if fence == "" && strings.HasPrefix(line, "```") {
			fence = strings.TrimRight(line, "dif")
			continue
		}
		if line == fence {
			fence = ""
			continue
		}
		if fence == "" {
			require.NotContains(t, strings.ReplaceAll(line, "`", ""), "<img src=x onerror=alert(1)> | t",
				"outside of code nothing is HTML or a cell: %s", line)
		}
	}
	require.Empty(t, fence, "every block ends")
	require.NoError(t, readXSD(t, "testdata/jenkins-junit.xsd").validate(written(t, "junit", sampleOptions(), mask.New(),
		list, failedExit)))
}
