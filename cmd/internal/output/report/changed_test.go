package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// A document, events and the lines of all text reports have the same changes of a step, and none has a secret.
func TestReportsAgreeAboutChanges(t *testing.T) {
	t.Parallel()
	scalar := rapid.OneOf(rapid.Map(rapid.IntRange(0, 3), func(n int) value.Value { return value.Int(n) }),
		rapid.Map(rapid.SampledFrom([]string{"hunter2-hunter2", "hunter2-hunter3"}), func(s string) value.Value {
			return value.String(s).Secret()
		}))
	inputs := rapid.Custom(func(t *rapid.T) value.Value {
		v := value.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "ab", "c d"}), scalar, 0, 3).Draw(t, "flat"))
		return v.With("nested", value.Map(rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), scalar, 0, 2).Draw(t, "nested"))).
			With("list", value.List(rapid.SliceOfN(scalar, 0, 3).Draw(t, "list")...))
	})
	rapid.Check(t, func(t *rapid.T) {
		old, new := inputs.Draw(t, "old"), inputs.Draw(t, "new")
		s := &engine.Step{Op: engine.OpUpdate, URN: viewtest.PetURN, Type: viewtest.PetURN.Type(),
			Old: viewtest.Resource(viewtest.PetURN, old), New: viewtest.Resource(viewtest.PetURN, new)}
		m := mask.New(old, new)
		o := view.Options{Changes: &change.Book{}}
		var stream bytes.Buffer
		digest, lines, outline := NewDigest(o, m), NewLines(&stream, o, m), view.NewOutline(o, m)
		for _, e := range []engine.Event{&engine.StepStarted{Step: s}, &engine.StepFinished{Step: s, Op: s.Op}} {
			digest.Event(e)
			lines.Event(e)
			outline.Event(e)
		}
		var document bytes.Buffer
		require.NoError(t, digest.Write(&document))
		var shown struct {
			Steps []struct{ Changes []propertyJSON }
		}
		require.NoError(t, json.Unmarshal(document.Bytes(), &shown))
		var finished envelope
		require.NoError(t, json.Unmarshal([]byte(strings.Split(stream.String(), "\n")[1]), &finished))
		texts := outline.Resources()[0].Changes
		set := o.Changes.Of(s)
		require.Len(t, shown.Steps[0].Changes, len(set))
		require.Len(t, finished.ResourceOutputs.Metadata.Changes, len(set))
		require.Len(t, texts, len(set))
		for i, p := range set {
			require.Equal(t, p.Path, shown.Steps[0].Changes[i].Path)
			require.Equal(t, p.Kind, shown.Steps[0].Changes[i].Kind)
			require.Equal(t, shown.Steps[0].Changes[i].Path, finished.ResourceOutputs.Metadata.Changes[i].Path)
			require.Contains(t, texts[i], p.Path)
		}
		for _, text := range append(texts, document.String(), stream.String()) {
			require.NotContains(t, text, "hunter2")
		}
	})
}
