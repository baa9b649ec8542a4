package diag

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// sarifSamples returns findings with and without each optional part.
func sarifSamples() Diagnostics {
	src := NewSource("./a dir/Pulumi.yaml", []byte("a: é\nb: x\n"))
	here := NewRange(src, 3, 5)
	return Diagnostics{
		{Code: UnknownProperty, Summary: "one", Detail: "do this", Subject: here,
			Related: []Related{{Range: NewRange(src, 6, 7), Message: "there"}, {Message: "nowhere"}},
			Fixes:   []Fix{{Label: "Write x", Edits: []Edit{{here, "x"}, {NewRange(src, 6, 7), "y"}}}, {Label: "nothing"}}},
		{Code: UnknownProperty, Severity: Warning, Summary: "two", Subject: NewRange(NewSource("/a dir/Main.yaml", []byte("x")),
			0, 0)},
		{Code: YamlhostOnly, Severity: Portability, Summary: "three",
			Subject: NewRange(NewSource("/p/Main.yaml", []byte("x")), 0, 1)},
		{Summary: "no code and no place"},
	}
}

// The requirements of SARIF 2.1.0 on the members written here.
func TestSARIF(t *testing.T) {
	t.Parallel()
	findings := sarifSamples()
	var b bytes.Buffer
	require.NoError(t, WriteSARIF(&b, findings, Tool{Name: "yamlhost", Version: "1.2.3"}))
	var log struct {
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct {
					Name, Version string
					Rules         []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex *int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndLine, EndColumn, ByteOffset, ByteLength int }
					}
				}
				RelatedLocations []struct{ Message struct{ Text string } }
				Fixes            []struct {
					ArtifactChanges []struct {
						Replacements []struct{ InsertedContent struct{ Text string } }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &log))
	require.Equal(t, "2.1.0", log.Version)
	require.Len(t, log.Runs, 1)
	run := log.Runs[0]
	require.Equal(t, "unicodeCodePoints", run.ColumnKind)
	require.Equal(t, "yamlhost", run.Tool.Driver.Name)
	require.Len(t, run.Tool.Driver.Rules, 2)
	require.Len(t, run.Results, 4)
	uris := map[string]string{}
	for _, r := range run.Results {
		require.Contains(t, []string{"error", "warning", "note"}, r.Level)
		require.NotEmpty(t, r.Message.Text)
		if r.RuleIndex != nil {
			require.Equal(t, r.RuleID, run.Tool.Driver.Rules[*r.RuleIndex].ID)
		}
		for _, l := range r.Locations {
			uris[r.Message.Text] = l.PhysicalLocation.ArtifactLocation.URI
			require.GreaterOrEqual(t, l.PhysicalLocation.Region.StartLine, 1)
			require.GreaterOrEqual(t, l.PhysicalLocation.Region.EndColumn, l.PhysicalLocation.Region.StartColumn)
		}
		if r.RuleID == "Y210" && r.Level == "error" {
			require.Equal(t, 5, r.Locations[0].PhysicalLocation.Region.EndColumn) // a code point, not two bytes
			require.Equal(t, 2, r.Locations[0].PhysicalLocation.Region.ByteLength)
			require.Len(t, r.RelatedLocations, 1)
			require.Len(t, r.Fixes, 1)
			require.Len(t, r.Fixes[0].ArtifactChanges, 1)
			require.Len(t, r.Fixes[0].ArtifactChanges[0].Replacements, 2)
		}
	}
	require.Equal(t, map[string]string{"one\ndo this": "a%20dir/Pulumi.yaml", "two": "file:///a%20dir/Main.yaml",
		"three": "file:///p/Main.yaml"}, uris)

	b.Reset()
	require.NoError(t, WriteSARIF(&b, nil, Tool{Name: "yamlhost"}))
	require.Contains(t, b.String(), `"results": []`)
}
