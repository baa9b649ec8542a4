package paths

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/workspace/project"
)

// change is an edit of one value of a stack's configuration.
type change struct {
	path, text   string
	remove, seal bool
}

// TestConfigPaths compares `config set --path` and `config rm --path`: what is refused, and what the values are after
// some of them.
func TestConfigPaths(t *testing.T) {
	t.Parallel()
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		theirs, ours := config.Map{}, project.NewSettings("Pulumi.dev.yaml", "p")
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			c := change{path: "a" + texts().Draw(t, "path"), remove: rapid.IntRange(0, 3).Draw(t, "remove") == 0,
				seal: rapid.IntRange(0, 4).Draw(t, "seal") == 0,
				text: rapid.SampledFrom([]string{"x", "1", "-7", "true", "0", "007", "", "1.5", "9223372036854775808"}).Draw(t, "text")}
			var refused error
			key, err := config.ParseKey("p:" + c.path)
			if err != nil {
				key = config.MustMakeKey("p", c.path)
			}
			switch {
			case c.remove:
				refused = theirs.Remove(key, true)
			case c.seal:
				refused = theirs.Set(key, config.NewSecureValue(c.text), true)
			default:
				refused = theirs.Set(key, config.NewValue(c.text), true)
			}
			path, problem := project.ParseKeyPath("p:"+c.path, "p")
			switch {
			case problem != nil:
			case c.remove:
				_, problem = ours.RemovePath(path)
			case c.seal:
				problem = ours.SetPath(path, project.Secure(c.text))
			default:
				problem = ours.SetPath(path, project.Coerce(c.text))
			}
			if (refused == nil) != (problem == nil) {
				t.Fatalf("%+v: %v, and here %v", c, refused, problem)
			}
			if refused != nil {
				return
			}
			changed++
		}
		want, err := json.Marshal(theirs)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		for _, e := range ours.Entries() {
			values[e.Key.String()] = e.Data()
		}
		got, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s, and here %s", want, got)
		}
	})
	if changed == 0 {
		t.Fatal("nothing was changed")
	}
}
