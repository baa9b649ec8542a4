package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestPageIsWhatTheFileSays compares the page of the documentation with the file of figures.
func TestPageIsWhatTheFileSays(t *testing.T) {
	all, err := readResults("../../../docs/figures.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/figures.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, all.page()) {
		t.Error("docs/figures.md is not what docs/figures.json says: go run ./tools/bench/figures -page")
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

// All parts are measured within the time that `make figures` has, and each has a title.
func TestPartsAreBounded(t *testing.T) {
	total := time.Duration(0)
	for _, p := range parts() {
		if p.once <= 0 {
			t.Errorf("%s takes no time", p.name)
		}
		if strings.HasPrefix(p.name, "shape/") && shapeTitles[p.name] == "" {
			t.Errorf("%s has no title", p.name)
		}
		total += p.cost(5)
	}
	if total > 90*time.Minute {
		t.Errorf("all parts take %s", total)
	}
}

// The page has a column for each pair of sizes from 1,000 on and one for the whole range, and marks costs that grow too
// fast.
func TestExponents(t *testing.T) {
	all := &results{}
	for size, cost := range map[int]float64{100: 9, 1000: 1, 10000: 9, 50000: 60} {
		part := fmt.Sprintf("process/%d", size)
		var rows []*row
		for _, o := range plain {
			rows = append(rows, &row{Part: part, Operation: o.name, Tool: afterTool, CPU: []float64{cost},
				Wall: []float64{1}, Peak: []int64{int64(cost * 1e6)}, Written: []int64{int64(cost)}})
		}
		all.replace(part, rows)
	}
	page := string(all.page())
	for _, want := range []string{
		"| CPU | 1,000 to 10,000 | 10,000 to 50,000 | 1,000 to 50,000 |\n|---|---:|---:|---:|\n" +
			"| check | 0.95 | **1.18** | 1.05 |\n",
		"| Memory | 1,000 to 10,000 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "| Written |") {
		t.Errorf("a few bytes have an exponent:\n%s", page)
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
	for _, want := range []string{"| up | 3.00 | 3.00 |", "| up | 1.50 | 1.50 |", "| | 1,000 | 10,000 |", "| CPU | 1,000 to 10,000 |\n|---|---:|\n| check | 1.00 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
