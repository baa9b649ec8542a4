package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// The buffer of a state is large enough for its resources, so that it is not copied, and not much larger.
func TestRoomForResources(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	now := time.Date(2026, 11, 29, 7, 11, 20, 368138287, time.UTC)
	name := func(i int) urn.URN {
		return urn.New("dev", "project", "", "aws:s3/bucket:Bucket", fmt.Sprint("thing", i))
	}
	for n := range 40 {
		var room, length int
		for i := range 20 {
			r := &Resource{URN: name(i), Type: "aws:s3/bucket:Bucket", Custom: true, ID: fmt.Sprint("id-", i),
				Parent: name(n), Provider: string(name(0)) + "::04da6b54-80e4-46f7-96ec-b56ff0331ba9",
				Inputs: properties(random, n), Created: &now, Modified: &now,
				SourcePosition: "project:///Pulumi.yaml#10,3"}
			r.Outputs = r.Inputs.With("arn", value.String(fmt.Sprint("arn:aws:s3:::thing", i)))
			byInput := make([][]urn.URN, r.Inputs.Len())
			for j := 3; j < len(byInput); j += 4 {
				byInput[j] = []urn.URN{name(j)}
				r.Dependencies = append(r.Dependencies, name(j))
			}
			r.PropertyDependencies = urn.NewDependencies(r.Inputs.Keys(), byInput)
			text, err := AppendResource(nil, r, Shown())
			require.NoError(t, err)
			room, length = room+roomFor(r), length+len(text)
		}
		require.LessOrEqual(t, length, room, "%d properties", n)
		require.Less(t, room, length*3/2, "%d properties", n)
	}
}

// properties returns n properties, some of which have others inside.
func properties(random *rand.Rand, n int) value.Value {
	v := value.EmptyMap()
	for i := range n {
		var p value.Value
		switch i % 5 {
		case 0:
			p = value.String(strings.Repeat("word ", random.IntN(6)))
		case 1:
			p = value.Int(random.IntN(70000))
		case 2:
			p = value.Bool(random.IntN(2) == 0)
		case 3:
			p = value.List(value.Int(random.IntN(70000)), value.String("tcp"), value.Int(random.IntN(70000)))
		case 4:
			p = properties(random, random.IntN(4))
		}
		v = v.With(fmt.Sprint("property", i), p)
	}
	return v
}
