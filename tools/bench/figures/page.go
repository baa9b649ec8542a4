package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// opening is the text above the tables.
//
//go:embed opening.md
var opening string

// writePage writes the page of the documentation from the file of figures.
func writePage(file, page string) error {
	all, err := readResults(file)
	if err != nil {
		return err
	}
	return os.WriteFile(page, all.page(), 0o644)
}

// page returns the page of the documentation.
func (all *results) page() []byte {
	var b bytes.Buffer
	b.WriteString(opening)
	if all.Machine == "" {
		b.WriteString("\nNothing has been measured yet.\n")
		return b.Bytes()
	}
	fmt.Fprintf(&b, "\nMeasured on %s, in %s.\n", all.Machine, all.runs())
	for _, mode := range []struct{ part, title string }{
		{"process", "Provider in the process"}, {"plugin", "Provider as a plugin"}} {
		all.scale(&b, mode.part, mode.title)
	}
	all.besideTables(&b)
	all.shapeTable(&b)
	return b.Bytes()
}

// runs describes how often each operation was measured, without those beside other tools, which run once.
func (all *results) runs() string {
	least, most := 0, 0
	for _, r := range all.Rows {
		if n := len(r.CPU); !strings.HasPrefix(r.Part, "beside/") {
			if least == 0 || n < least {
				least = n
			}
			most = max(most, n)
		}
	}
	if least == most {
		return fmt.Sprintf("%d runs", most)
	}
	return fmt.Sprintf("%d to %d runs", least, most)
}

// scale writes the tables of one way of running the provider.
func (all *results) scale(b *bytes.Buffer, mode, title string) {
	var known []int
	for _, size := range sizes {
		if all.find(fmt.Sprintf("%s/%d", mode, size), "check", afterTool) != nil {
			known = append(known, size)
		}
	}
	if len(known) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	table := func(title string, cell func(part, operation string) string) {
		fmt.Fprintf(b, "\n%s:\n\n| |", title)
		for _, size := range known {
			fmt.Fprintf(b, " %s |", thousands(size))
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(known)) + "\n")
		for _, o := range plain {
			fmt.Fprintf(b, "| %s |", o.name)
			for _, size := range known {
				fmt.Fprintf(b, " %s |", cell(fmt.Sprintf("%s/%d", mode, size), o.name))
			}
			b.WriteByte('\n')
		}
	}
	table("CPU in seconds, and the spread of the runs", func(part, operation string) string {
		r := all.find(part, operation, afterTool)
		return fmt.Sprintf("%.3f ±%.3f", median(r.CPU), spread(r.CPU)/2)
	})
	table("CPU as multiples of the floor", func(part, operation string) string {
		return ratio(all.find(part, operation, afterTool), all.find(part, operation, floorTool))
	})
	if all.find(fmt.Sprintf("%s/%d", mode, known[0]), "check", beforeTool) != nil {
		table("CPU as multiples of what it was before", func(part, operation string) string {
			return ratio(all.find(part, operation, afterTool), all.find(part, operation, beforeTool))
		})
	}
	table("Wall time in seconds", func(part, operation string) string {
		return fmt.Sprintf("%.2f", median(all.find(part, operation, afterTool).Wall))
	})
	table("Memory at its peak, in MiB", func(part, operation string) string {
		return strconv.FormatInt(median(all.find(part, operation, afterTool).Peak)>>20, 10)
	})
	table("Written, in MB", func(part, operation string) string {
		return fmt.Sprintf("%.1f", float64(median(all.find(part, operation, afterTool).Written))/1e6)
	})
	all.exponents(b, mode, known)
}

// steepest is the largest exponent that is not marked as growing too fast.
const steepest = 1.05

// exponents writes how costs grow with the size, from 1,000 on: from each size to the next, and from the first to the
// last.
func (all *results) exponents(b *bytes.Buffer, mode string, known []int) {
	large := slices.DeleteFunc(slices.Clone(known), func(size int) bool { return size < 1000 })
	if len(large) < 2 {
		return
	}
	type span struct{ from, to int }
	var spans []span
	for i, dst := range large[1:] {
		spans = append(spans, span{large[i], dst})
	}
	if len(spans) > 1 {
		spans = append(spans, span{large[0], large[len(large)-1]})
	}
	fmt.Fprintf(b, "\nCosts grow with a power of the number of resources. These are the exponents; those over %.2f are bold.\n",
		steepest)
	for _, cost := range []struct {
		name string
		of   func(*row) float64
	}{
		{"CPU", func(r *row) float64 { return median(r.CPU) }},
		{"Memory", func(r *row) float64 { return float64(median(r.Peak)) }},
		{"Written", func(r *row) float64 { return float64(median(r.Written)) }},
	} {
		var rows strings.Builder
		for _, o := range plain {
			value := func(size int) float64 {
				return cost.of(all.find(fmt.Sprintf("%s/%d", mode, size), o.name, afterTool))
			}
			if cost.name != "CPU" && value(large[0]) < 1e5 {
				continue // too few bytes for an exponent
			}
			fmt.Fprintf(&rows, "| %s |", o.name)
			for _, s := range spans {
				fmt.Fprintf(&rows, " %s |", exponent(value(s.from), value(s.to), s.from, s.to))
			}
			rows.WriteByte('\n')
		}
		if rows.Len() == 0 {
			continue
		}
		fmt.Fprintf(b, "\n| %s |", cost.name)
		for _, s := range spans {
			fmt.Fprintf(b, " %s to %s |", thousands(s.from), thousands(s.to))
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(spans)) + "\n" + rows.String())
	}
}

// ratio returns a cell with the CPU time of one as a multiple of the other's.
func ratio(r, entry *row) string {
	if r == nil || entry == nil || median(entry.CPU) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", median(r.CPU)/median(entry.CPU))
}

// exponent returns a cell with the e for which a cost grows as size^e, in bold if that is too steep.
func exponent(before, after float64, from, to int) string {
	power := math.Round(100*math.Log(after/before)/math.Log(float64(to)/float64(from))) / 100
	if power > steepest {
		return fmt.Sprintf("**%.2f**", power)
	}
	return fmt.Sprintf("%.2f", power)
}

func (all *results) besideTables(b *bytes.Buffer) {
	title := "\n## Beside others\n\nCPU in seconds, one run each, with a plugin; terraform has its built-in " +
		"`terraform_data`.\n"
	for _, size := range besideSizes {
		part := fmt.Sprintf("beside/%d", size)
		if all.find(part, update, afterTool) == nil {
			continue
		}
		b.WriteString(title)
		title = ""
		fmt.Fprintf(b, "\n| %s resources |", thousands(size))
		tools := []string{floorTool, afterTool, pulumiTool, terraformTool}
		for i, name := range []string{"floor", "yamlhost", pulumiTool, terraformTool} {
			if all.find(part, update, tools[i]) != nil {
				fmt.Fprintf(b, " %s |", name)
			}
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", strings.Count(b.String()[strings.LastIndex(b.String(), "\n| "):],
			"|")-2) + "\n")
		for _, o := range plain {
			fmt.Fprintf(b, "| %s |", o.name)
			for _, tool := range tools {
				if r := all.find(part, o.name, tool); r != nil {
					fmt.Fprintf(b, " %.2f |", median(r.CPU))
				} else if all.find(part, update, tool) != nil {
					b.WriteString(" – |")
				}
			}
			b.WriteByte('\n')
		}
		for _, tool := range tools[2:] {
			if all.find(part, update, tool) == nil {
				fmt.Fprintf(b, "\nNot measured, because the machine had none: %s.\n", tool)
			}
		}
	}
}

// shapeTitles describes the programs of the parts.
var shapeTitles = map[string]string{
	"shape/chain":        "a chain of 2,000, 5 ms for each change",
	"shape/fan":          "10,000, of which 9,999 need the first",
	"shape/forEach":      "one declaration of 10,000",
	"shape/components":   "10,648 in components of three levels",
	"shape/big":          "20 texts of 1 MiB",
	"shape/target":       "one of 10,000 as the target",
	"shape/state":        "a state of 105 MB",
	"shape/stacks":       "50 stacks",
	"shape/svg":          "a picture of 10,000",
	"shape/slow":         "1,000, 50 ms for each change",
	"shape/secrets-1":    "one secret",
	"shape/secrets-1000": "1,000 secrets",
	"shape/secrets-8000": "8,000 secrets",
}

func (all *results) shapeTable(b *bytes.Buffer) {
	before := "\n## Shapes\n\nThe provider is in the process.\n\n" +
		"| | | CPU s | before | wall s | peak MiB | written MB |\n|---|---|---:|---:|---:|---:|---:|\n"
	for _, r := range all.Rows {
		if !strings.HasPrefix(r.Part, "shape/") || r.Tool != afterTool {
			continue
		}
		earlier := "–"
		if e := all.find(r.Part, r.Operation, beforeTool); e != nil {
			earlier = fmt.Sprintf("%.3f", median(e.CPU))
		}
		fmt.Fprintf(b, "%s| %s | %s | %.3f ±%.3f | %s | %.2f | %d | %.2f |\n", before, shapeTitles[r.Part], r.Operation,
			median(r.CPU), spread(r.CPU)/2, earlier, median(r.Wall), median(r.Peak)>>20, float64(median(r.Written))/1e6)
		before = ""
	}
}

// thousands formats a number with separators.
func thousands(n int) string {
	text := strconv.Itoa(n)
	if len(text) > 3 {
		return text[:len(text)-3] + "," + text[len(text)-3:]
	}
	return text
}
