package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// row holds the costs of one operation of a part with one tool, in each run.
type row struct {
	Part      string    `json:"part"`
	Operation string    `json:"operation"`
	Tool      string    `json:"tool"`
	CPU       []float64 `json:"cpu"`     // seconds, of the process and all that it started
	Wall      []float64 `json:"wall"`    // seconds
	Peak      []int64   `json:"peak"`    // bytes of memory, of the largest process
	Written   []int64   `json:"written"` // bytes, by the process itself
}

func (r *row) add(f figure) {
	r.CPU = append(r.CPU, float64(f.CPU.Round(time.Millisecond).Milliseconds())/1000)
	r.Wall = append(r.Wall, float64(f.Wall.Round(time.Millisecond).Milliseconds())/1000)
	r.Peak, r.Written = append(r.Peak, f.Peak), append(r.Written, f.Written)
}

// median returns the middle of some figures, which are not changed.
func median[T int64 | float64](figures []T) T {
	if len(figures) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}

// spread returns the distance between the least and the most.
func spread(figures []float64) float64 { return slices.Max(figures) - slices.Min(figures) }

// results holds all known figures.
type results struct {
	Machine string `json:"machine"`
	Rows    []*row `json:"rows"`
}

// readResults reads a file of figures; a missing file has none.
func readResults(path string) (*results, error) {
	all := &results{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == "" {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	return all, nil
}

// replace replaces the rows of a part.
func (all *results) replace(part string, rows []*row) {
	all.Machine = fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	all.Rows = append(slices.DeleteFunc(all.Rows, func(r *row) bool { return r.Part == part }), rows...)
	order := map[string]int{}
	for i, p := range parts() {
		order[p.name] = i
	}
	slices.SortStableFunc(all.Rows, func(a, b *row) int { return order[a.Part] - order[b.Part] })
}

// write writes one line for each row, so that diffs between two runs are readable.
func (all *results) write(path string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"machine\": %q, \"rows\": [", all.Machine)
	for i, r := range all.Rows {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(text)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// find returns a row; nil if it was not measured.
func (all *results) find(part, operation, tool string) *row {
	for _, r := range all.Rows {
		if r.Part == part && r.Operation == operation && r.Tool == tool {
			return r
		}
	}
	return nil
}

func printRows(rows []*row) {
	table := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "operation\ttool\tcpu s\tspread\twall s\tpeak MiB\twritten MB\t")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%.3f\t%.3f\t%.3f\t%d\t%.2f\t\n", r.Operation, r.Tool, median(r.CPU), spread(r.CPU),
			median(r.Wall), median(r.Peak)>>20, float64(median(r.Written))/1e6)
	}
	_ = table.Flush()
	fmt.Println()
}
