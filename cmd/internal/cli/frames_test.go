package cli

import (
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostFrames is how many functions of ours stand between a command and the evaluation of its program, both counted. A
// function that only calls the next one has no place there.
const mostFrames = 12

// framesSeen calls see, whenever something is written, with the functions between Run and eval.Run, the latter first.
// The test calls Run.
type framesSeen struct {
	io.Writer
	test string // name of the test
	see  func([]string)
}

func (w framesSeen) Write(text []byte) (int, error) {
	all := make([]byte, 1<<20)
	size := runtime.Stack(all, true)
	for ; size == len(all); size = runtime.Stack(all, true) {
		all = make([]byte, 2*size)
	}
	goroutines := strings.Split(string(all[:size]), "\n\n")
	for _, main := range goroutines {
		number, _, _ := strings.Cut(strings.TrimPrefix(main, "goroutine "), " ")
		if !strings.Contains(main, "cli."+w.test+"(") {
			continue
		}
		for _, other := range goroutines {
			if strings.Contains(other, "/eval.Run(") &&
				strings.Contains(other, "runProgram in goroutine "+number+"\n") {
				w.see(append(functions(other, "/eval.Run("), functions(main, ".(*operation).runProgram(")...))
			}
		}
	}
	return w.Writer.Write(text)
}

var function = regexp.MustCompile(`(?m)^github\.com/yamlhost/yamlhost/(\S+)\(.*\)$`)

// functions returns the functions of ours in a stack, from the one of that name to Run.
func functions(stack, from string) (names []string) {
	for _, found := range function.FindAllStringSubmatch(stack, -1) {
		if len(names) > 0 || strings.HasSuffix("/"+found[1]+"(", from) {
			names = append(names, found[1])
		}
		if found[1] == "cmd/internal/cli.Run" {
			break
		}
	}
	return names
}

func TestPathOfACommandIsShort(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	for _, command := range []string{"preview --out events=-", "up --yes --json", "up --yes --skip-preview --json",
		"run --json", "drift --out events=-"} {
		longest := []string{}
		x.streams.Out = framesSeen{&x.out, t.Name(), func(names []string) {
			if len(names) > len(longest) {
				longest = names
			}
		}}
		require.Equal(t, 0, x.run(strings.Fields(command)...), x.err.String())
		t.Logf("%s: %d", command, len(longest)+1)
		if len(longest) == 0 || len(longest)+1 > mostFrames {
			t.Errorf("%s: %d functions with main, and %d are allowed:\n%s", command, len(longest)+1, mostFrames,
				strings.Join(longest, "\n"))
		}
	}
}
