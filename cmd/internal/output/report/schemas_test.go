package report

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/cmd/internal/output/view/viewtest"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/testschema"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// written returns the report of a kind about a run with these events.
func written(t *testing.T, kind string, o view.Options, m *mask.Masker, list []engine.Event, exit Exit) string {
	t.Helper()
	path := t.TempDir() + "/report"
	began := time.Unix(1_700_000_000, 0)
	s, err := Open(Options{Specs: []Spec{{kind, path}}, Path: func(p string) string { return p }, Began: began,
		Subject: Subject{Command: "up", Version: "1.2.3", Project: "p", Stack: "dev", Program: "Pulumi.yaml"}})
	require.NoError(t, err)
	event, done := s.Phase(o, m, nil)
	for _, e := range list {
		event(e)
	}
	done()
	require.NoError(t, s.Finish(exit, began.Add(2*time.Second)))
	return testfile.Text(t, path)
}

var failedExit = Exit{Code: 14, Name: "failed"}

// SARIF, GitLab and JUnit reports are valid under the published schemas of these formats.
func TestReportsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	odd := append(viewtest.Events()[:len(viewtest.Events())-2:len(viewtest.Events())-2], &engine.Message{Severity: diag.Error,
		Text: "no place \x1b[2J & <b> \x00"},
		&engine.Message{Severity: diag.Warning, Text: "twice"}, &engine.Message{URN: viewtest.PetURN, Severity: diag.Warning,
			Text: "twice"})
	cases := map[string][]engine.Event{"nothing": nil, "all": viewtest.Events(), "cut off": odd}
	t.Run("sarif", func(t *testing.T) {
		t.Parallel()
		file, err := os.Open("../../../../internal/diag/testdata/sarif-schema-2.1.0.json.gz")
		require.NoError(t, err)
		defer file.Close()
		z, err := gzip.NewReader(file)
		require.NoError(t, err)
		schema, err := io.ReadAll(z)
		require.NoError(t, err)
		s := testschema.Compile(t, schema, nil)
		for name, list := range cases {
			text := written(t, "sarif", sampleOptions(), secrets("hunter2"), list, failedExit)
			require.NoError(t, testschema.Validate(t, s, []byte(text)), name)
			wrong := strings.ReplaceAll(text, `"runs"`, `"run"`)
			require.Error(t, testschema.Validate(t, s, []byte(wrong)), "the schema looks at it")
		}
	})
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		s := testschema.Compile(t, testfile.Bytes(t, "testdata/gitlab-code-quality.schema.json"), nil)
		for name, list := range cases {
			got := written(t, "gitlab", sampleOptions(), secrets("hunter2"), list, failedExit)
			require.NoError(t, testschema.Validate(t, s, []byte(got)), name)
			var items []qualityJSON
			require.NoError(t, json.Unmarshal([]byte(got), &items))
			prints := map[string]bool{}
			for _, item := range items {
				prints[item.Fingerprint] = true
			}
			require.Len(t, prints, len(items), "fingerprints differ")
		}
	})
	t.Run("junit", func(t *testing.T) {
		t.Parallel()
		s := readXSD(t, "testdata/jenkins-junit.xsd")
		for name, list := range cases {
			text := written(t, "junit", sampleOptions(), secrets("hunter2"), list, failedExit)
			require.NoError(t, s.validate(text), "%s: %s", name, text)
			require.Error(t, s.validate(strings.Replace(text, "<testsuite ", "<testsuite unheard=\"1\" ", 1)))
			require.Error(t, s.validate(strings.ReplaceAll(text, "testcase", "testcast")))
		}
	})
}

// xsd is the part of an XML schema that JUnit's uses: elements with attributes and a sequence of other elements.
type xsd map[string]xsdElement

type xsdElement struct {
	Name    string `xml:"name,attr"`
	Type    string `xml:"type,attr"`
	Complex struct {
		Mixed    bool `xml:"mixed,attr"`
		Sequence []struct {
			Ref string `xml:"ref,attr"`
			Min string `xml:"minOccurs,attr"`
			Max string `xml:"maxOccurs,attr"`
		} `xml:"sequence>element"`
		Attributes []struct {
			Name string `xml:"name,attr"`
			Use  string `xml:"use,attr"`
		} `xml:"attribute"`
	} `xml:"complexType"`
}

func readXSD(t *testing.T, path string) xsd {
	t.Helper()
	text := testfile.Bytes(t, path)
	var schema struct {
		Elements []xsdElement `xml:"element"`
	}
	require.NoError(t, xml.Unmarshal(text, &schema))
	elements := xsd{}
	for _, e := range schema.Elements {
		elements[e.Name] = e
	}
	require.Len(t, elements, 10)
	return elements
}

// node is an element of any name.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []node     `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (x xsd) validate(text string) error {
	var root node
	if err := xml.Unmarshal([]byte(text), &root); err != nil {
		return err
	}
	return x.element(root)
}

func (x xsd) element(n node) error {
	name := n.XMLName.Local
	e, known := x[name]
	if !known {
		return fmt.Errorf("there is no element %s", name)
	}
	if e.Type == "" && !e.Complex.Mixed && strings.TrimSpace(n.Text) != "" {
		return fmt.Errorf("%s has no text, but here it is %q", name, n.Text)
	}
	given := map[string]bool{}
	for _, a := range n.Attrs {
		given[a.Name.Local] = true
	}
	for _, a := range e.Complex.Attributes {
		if a.Use == "required" && !given[a.Name] {
			return fmt.Errorf("%s lacks %s", name, a.Name)
		}
		delete(given, a.Name)
	}
	for other := range given {
		return fmt.Errorf("%s has no attribute %s", name, other)
	}
	left := slices.Clone(n.Children)
	for _, part := range e.Complex.Sequence {
		count := 0
		for len(left) > 0 && left[0].XMLName.Local == part.Ref {
			if err := x.element(left[0]); err != nil {
				return err
			}
			left, count = left[1:], count+1
		}
		if part.Min != "0" && count == 0 || part.Max != "unbounded" && count > 1 {
			return fmt.Errorf("%s has %d of %s", name, count, part.Ref)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%s does not belong here in %s", left[0].XMLName.Local, name)
	}
	return nil
}
