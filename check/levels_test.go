package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// hooked returns a program whose n resources, which do not depend on each other, name the same hooks.
func hooked(n int) string {
	var b strings.Builder
	b.WriteString("hooks:\n  a: {command: [a]}\n  b: {command: [b]}\nresources:\n")
	for i := range n {
		fmt.Fprintf(&b, "  r%d: {type: zoo:Typed, options: {hooks: {onError: [a], beforeCreate: [b, c]}}}\n", i)
	}
	return b.String()
}

// TestCheckOnAllProcessors checks every program of the archives, before and after an edit, with one goroutine for each
// declaration and with one goroutine for all. Both checks must give the same program and findings.
func TestCheckOnAllProcessors(t *testing.T) {
	t.Parallel()
	programs := archived(t)
	programs["many"], programs["misspelt"], programs["hooked"] = bigProgram(200), misspelt(50), hooked(50)
	random := rand.New(rand.NewPCG(*seed, 2))
	schemas := loader()
	var names []string
	for name := range programs {
		names = append(names, name)
	}
	slices.Sort(names)
	levels := 0
	for _, name := range names {
		oneGoroutine := check.Options{Project: "p", Schemas: schemas, Batch: 1 << 30}
		many := check.Options{Project: "p", Schemas: schemas, Batch: 1}
		document := parser.NewDocument(diag.NewSource("x", []byte(programs[name])))
		var previous *check.Snapshot
		for edited := range 2 {
			file, _ := document.File(parser.Options{})
			alone, next, found := check.Recheck(t.Context(), file, oneGoroutine, previous)
			program, _, same := check.Recheck(t.Context(), file, many, previous)
			if edited == 1 { // after an edit, the order of findings depends on the declarations that are checked again
				found, same = file.Origins.Findings(found).Sorted(), file.Origins.Findings(same).Sorted()
			}
			require.Equal(t, fmt.Sprintf("%+v", []diag.Diagnostic(found)), fmt.Sprintf("%+v", []diag.Diagnostic(same)), name)
			require.Equal(t, known(file, alone), known(file, program), name)
			levels += len(program.Nodes)
			previous = next
			document = document.Edit(someEdit(random, document.Source().Text()))
		}
	}
	require.Greater(t, levels, 1000)
}
