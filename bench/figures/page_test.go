package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestPageIsWhatTheFileSays holds the page of the documentation to the figures that were measured.
func TestPageIsWhatTheFileSays(t *testing.T) {
	all, err := readResults("../../docs/figures.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/figures.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, all.page()) {
		t.Error("docs/figures.md is not what docs/figures.json says: go run ./bench/figures -page")
	}
	names := map[string]bool{}
	for _, p := range parts() {
		names[p.name] = true
	}
	for _, r := range all.Rows {
		if !names[r.Part] || len(r.CPU) == 0 {
			t.Errorf("docs/figures.json has %s of %s, which nobody measures", r.Operation, r.Part)
		}
	}
}

func TestAPartReplacesItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.json")
	all := &results{}
	all.replace("plugin/10", []*row{{Part: "plugin/10", Operation: update, Tool: afterTool, CPU: []float64{3, 1, 2},
		Wall: []float64{1}, Peak: []int64{5 << 20}, Written: []int64{7}}})
	all.replace("process/10", []*row{{Part: "process/10", Operation: update, Tool: afterTool, CPU: []float64{4}}})
	all.replace("plugin/10", []*row{{Part: "plugin/10", Operation: update, Tool: afterTool, CPU: []float64{9, 7, 8}}})
	if err := all.write(path); err != nil {
		t.Fatal(err)
	}
	read, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Rows) != 2 || read.Rows[0].Part != "process/10" || !reflect.DeepEqual(read.Rows, all.Rows) {
		t.Errorf("read %+v, written %+v", read.Rows, all.Rows)
	}
	r := read.find("plugin/10", update, afterTool)
	if median(r.CPU) != 8 || spread(r.CPU) != 2 {
		t.Errorf("of %v the median is %v and the spread %v", r.CPU, median(r.CPU), spread(r.CPU))
	}
}

func TestPage(t *testing.T) {
	all := &results{}
	for _, p := range parts() {
		if p.name != "plugin/1000" && p.name != "plugin/10000" {
			continue
		}
		var rows []*row
		for _, o := range plain {
			for i, tool := range []string{floorTool, beforeTool, afterTool} {
				rows = append(rows, &row{Part: p.name, Operation: o.name, Tool: tool,
					CPU: []float64{float64((i + 1) * p.size)}, Wall: []float64{1}, Peak: []int64{1}, Written: []int64{1}})
			}
		}
		all.replace(p.name, rows)
	}
	page := string(all.page())
	for _, want := range []string{"| up | 3.00 | 3.00 |", "| up | 1.50 | 1.50 |", "| | 1,000 | 10,000 |", "up 1.00,\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
