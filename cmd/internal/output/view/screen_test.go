package view

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// still returns a live view without a goroutine: the test draws its frames and sets its clock.
func still(o Options, screen io.Writer, now func() time.Time) *live {
	v := &live{View: newView(o, masker(nil)), region: region{screen: screen}}
	v.board.now, v.board.began = now, now()
	return v
}

// made returns a step of a resource that the program declares at a line; 0 for no position.
func made(op engine.Op, parent urn.URN, typ, name string, line int) *engine.Step {
	u := urn.New("dev", "p", parent, typ, name)
	r := &state.Resource{URN: u, Type: typ, Custom: !strings.HasPrefix(typ, "components:"), Parent: parent,
		Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	if line > 0 {
		r.SourcePosition = fmt.Sprintf("project:///Pulumi.yaml#%d,3", line)
	}
	s := &engine.Step{Op: op, URN: u, Type: typ, New: r}
	if op == engine.OpDelete {
		s.Old, s.New = r, nil
	}
	return s
}

// screenText returns the text on a terminal, without empty lines at the end.
func screenText(term vt10x.Terminal) string {
	lines := strings.Split(term.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// newline writes a carriage return before each line feed, as the driver of a terminal does.
type newline struct{ out io.Writer }

func (n newline) Write(p []byte) (int, error) {
	_, err := n.out.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// TestScreens compares the frames of an operation with golden files, one for each width.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, width := range []int{20, 40, 80, 120, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			term := vt10x.New(vt10x.WithSize(width, 24))
			now := time.Unix(0, 0)
			v := still(Options{Operation: "Updating", Stack: "dev", Width: width, Height: 24}, newline{term},
				func() time.Time { return now })
			var got strings.Builder
			frame := func(name string) {
				v.draw()
				fmt.Fprintf(&got, "-- %s --\n%s\n", name, screenText(term))
			}
			stack := made(engine.OpSame, "", urn.RootStackType, "p-dev", 1)
			app := made(engine.OpCreate, stack.URN, "components:index:Application", "application", 10)
			database := made(engine.OpCreate, app.URN, "aws:rds/instance:Instance",
				"application-database-of-the-customers-primary", 20)
			replica := made(engine.OpCreate, app.URN, "aws:rds/instance:Instance",
				"application-database-of-the-customers-replica", 30)
			bucket := made(engine.OpUpdate, stack.URN, "aws:s3/bucket:Bucket", "logs", 5)
			old := made(engine.OpDelete, stack.URN, "random:index/randomPet:RandomPet", "old", 0)
			for _, s := range []*engine.Step{stack, app, database, bucket} {
				v.board.event(&engine.StepStarted{Step: s})
			}
			now = now.Add(3 * time.Second)
			frame("running")
			v.board.event(&engine.StepFinished{Step: database, Op: database.Op, Duration: 3 * time.Second})
			v.board.event(&engine.StepStarted{Step: replica})
			v.board.event(&engine.Message{URN: replica.URN, Text: "waiting for the primary to come up", Ephemeral: true})
			v.board.event(&engine.StepFailed{Step: bucket, Duration: 2 * time.Second})
			now = now.Add(2 * time.Second)
			frame("a failure")
			for _, s := range []*engine.Step{replica, app} {
				v.board.event(&engine.StepFinished{Step: s, Op: s.Op, Duration: time.Second})
			}
			v.board.event(&engine.StepStarted{Step: old})
			v.board.event(&engine.StepFinished{Step: old, Op: old.Op, Duration: 200 * time.Millisecond})
			v.board.event(&engine.StepFinished{Step: stack, Op: stack.Op})
			frame("done")
			v.region.show(nil, width)
			fmt.Fprintln(newline{term}, strings.Join(v.final(width), "\n"))
			fmt.Fprintf(&got, "-- final --\n%s\n", screenText(term))
			golden(t, fmt.Sprintf("screen-%d.txt", width), got.String())
		})
	}
}

// An interrupt is a row of the live view: every later frame has it once, no row of an earlier frame stays on the screen,
// and the end has the steps that it stopped, without findings about them.
func TestInterruptOnScreen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {40, 10}, {120, 40}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			term := vt10x.New(vt10x.WithSize(size[0], size[1]))
			now := time.Unix(0, 0)
			screen := newline{term}
			v := still(Options{Operation: "Updating", Stack: "dev", Width: size[0], Height: size[1], Command: "up",
				Err: screen, Out: screen}, screen, func() time.Time { return now })
			v.display = v
			fmt.Fprintln(screen, "Updating stack dev")
			stack := made(engine.OpCreate, "", urn.RootStackType, "p-dev", 1)
			stack.New.Custom = false
			ready := made(engine.OpCreate, stack.URN, "a:b:C", "ready", 2)
			slow := made(engine.OpCreate, stack.URN, "a:b:C", "slow", 3)
			for _, s := range []*engine.Step{stack, ready, slow} {
				v.Event(&engine.StepStarted{Step: s})
			}
			v.Event(&engine.StepFinished{Step: ready, Op: ready.Op, Duration: time.Second})
			v.draw()
			require.True(t, v.Interrupt("interrupting", false))
			for range 3 {
				now = now.Add(frame)
				v.tick()
				text := screenText(term)
				require.Equal(t, 1, strings.Count(text, "interrupting: 1 running; Ctrl-C a"), text)
				for _, name := range []string{"Updating", "p-dev", " ready ", " slow "} {
					require.Equal(t, 1, strings.Count(strings.Split(text, "done,")[0], name), text)
				}
			}
			require.True(t, v.Interrupt("stopping at once", true))
			require.Contains(t, screenText(term), "stopping at once")
			require.NotContains(t, screenText(term), "interrupting")

			v.board.event(&engine.Message{URN: slow.URN, Severity: diag.Error, Text: "the command was cancelled",
				Interrupted: true})
			v.board.event(&engine.StepFailed{Step: slow, Interrupted: true})
			v.board.event(&engine.StepFinished{Step: stack, Op: stack.Op, Outputs: true})
			v.board.event(&engine.Summary{Result: "failed", Interrupted: true, Changes: map[engine.Op]int{engine.OpCreate: 2}})
			v.end()
			text := screenText(term)
			require.NotContains(t, text, "the command was cancelled")
			require.NotContains(t, text, "stopping at once")
			require.Contains(t, text, "incomplete")
			text = strings.ReplaceAll(text, "\n", "")
			require.Contains(t, text, "Interrupted. 1 created, 1 stopped")
			require.Contains(t, text, "Next: `yamlhost up` goes on where this")
		})
	}
}

// alphabets are letters for random names: of several scripts, with wide and combining characters and an escape.
var alphabets = []string{"abcdefgh-", "äöüß", "日本語資源名", "👩‍👩‍👧🚀", "e\u0301o\u0308", "مورد", "\x1b[31m"}

func randomName(r *rand.Rand) string {
	letters := []rune(alphabets[r.IntN(len(alphabets))])
	var b strings.Builder
	for range 1 + r.IntN(60) {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// Rows of random trees are narrower than the screen, so that the terminal does not wrap them.
func TestNoRowIsWiderThanTheScreen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		width, height := 20+r.IntN(280), 4+r.IntN(60)
		v := still(Options{Width: width, Height: height}, io.Discard, func() time.Time { return time.Unix(100, 0) })
		parents := []urn.URN{""}
		var steps []*engine.Step
		for range r.IntN(120) {
			s := made([]engine.Op{engine.OpCreate, engine.OpDelete, engine.OpReplace}[r.IntN(3)], parents[r.IntN(len(parents))],
				"pkg:mod:T"+randomName(r), fmt.Sprint(len(steps))+randomName(r), r.IntN(50))
			parents = append(parents, s.URN)
			steps = append(steps, s)
			v.board.event(&engine.StepStarted{Step: s})
			if r.IntN(2) == 0 {
				v.board.event(&engine.StepFinished{Step: s, Op: s.Op})
			}
		}
		lines := v.lines(width, height)
		require.LessOrEqual(t, len(lines), max(3, height-2), "seed %d: a frame fits the screen", seed)
		for _, line := range append(lines, v.final(width)...) {
			require.Less(t, ansi.StringWidth(line), width, "seed %d: %q", seed, line)
			require.NotContains(t, line, "\x1b[31m", "escapes in names are made visible")
		}
		require.Equal(t, len(steps), v.board.tree.count)
	}
}

// After random frames drawn over each other, the screen shows the last frame and nothing else.
func TestFramesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		width, height := 20+r.IntN(100), 6+r.IntN(30)
		term := vt10x.New(vt10x.WithSize(width, height))
		v := still(Options{Width: width, Height: height}, newline{term}, func() time.Time { return time.Unix(100, 0) })
		var open []*engine.Step
		for i := range 60 {
			if len(open) > 0 && r.IntN(2) == 0 {
				pos := r.IntN(len(open))
				v.board.event(&engine.StepFinished{Step: open[pos], Op: open[pos].Op})
				open = append(open[:pos], open[pos+1:]...)
			} else {
				s := made(engine.OpCreate, "", "pkg:mod:Type", strings.Repeat("n", 1+r.IntN(50))+fmt.Sprint(i), i+1)
				open = append(open, s)
				v.board.event(&engine.StepStarted{Step: s})
			}
			if r.IntN(20) == 0 { // the user makes the window wider
				width += r.IntN(30)
				term.Resize(width, height)
				v.o.Width = width
			}
			v.draw()
			var want []string
			for _, line := range v.lines(v.o.Width, height) {
				want = append(want, strings.TrimRight(ansi.Strip(line), " "))
			}
			require.Equal(t, strings.Join(want, "\n"), screenText(term), "seed %d, frame %d", seed, i)
		}
	}
}

// With 300 resources on a screen of 24 lines whose width changes, each frame fits and replaces the one before. The
// final rows include every resource.
func TestManyRowsOnASmallScreen(t *testing.T) {
	t.Parallel()
	const height = 24
	r := rand.New(rand.NewPCG(7, 3))
	width := 120
	term := vt10x.New(vt10x.WithSize(width, height))
	v := still(Options{Operation: "Updating", Stack: "dev", Width: width, Height: height}, newline{term},
		func() time.Time { return time.Unix(100, 0) })
	var open []*engine.Step
	done := 0
	for i := 0; done < 300; {
		if i < 300 && len(open) < 16 {
			s := made(engine.OpCreate, "", "pkg:mod:Type", fmt.Sprintf("resource-%s-%d", strings.Repeat("x", r.IntN(60)), i), i+
				1)
			open = append(open, s)
			v.board.event(&engine.StepStarted{Step: s})
			i++
		} else {
			pos := r.IntN(len(open))
			v.board.event(&engine.StepFinished{Step: open[pos], Op: open[pos].Op})
			open = append(open[:pos], open[pos+1:]...)
			done++
		}
		switch done {
		case 50, 150, 250: // wider
			width = 120 + done/10
			term.Resize(width, height)
			v.o.Width = width
		}
		v.draw()
		var want []string
		for _, line := range v.lines(v.o.Width, height) {
			want = append(want, strings.TrimRight(ansi.Strip(line), " "))
		}
		require.Less(t, len(want), height)
		require.Equal(t, strings.Join(want, "\n"), screenText(term), "%d done", done)
	}
	final := v.final(width)
	for i := range 300 {
		require.Contains(t, strings.Join(final, "\n"), fmt.Sprintf("-%d ", i), "the last frame drops nothing")
	}
}

// Rows are below their parents, and siblings in the order of the program's text, whatever the order of the events is.
func TestOrderIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	stack := made(engine.OpSame, "", urn.RootStackType, "p-dev", 1)
	app := made(engine.OpDelete, stack.URN, "components:index:App", "app", 4)
	steps := []*engine.Step{
		made(engine.OpDelete, app.URN, "a:b:C", "app-second", 30), made(engine.OpDelete, app.URN, "a:b:C", "app-first", 20),
		made(engine.OpDelete, stack.URN, "a:b:C", "late", 9), made(engine.OpDelete, stack.URN, "a:b:C", "nowhere", 0), app,
		stack,
		made(engine.OpDelete, stack.URN, "a:b:C", "early", 2),
	}
	b := newBoard()
	for _, s := range steps {
		b.event(&engine.StepStarted{Step: s})
	}
	var got []string
	b.tree.walk(func(r *row, depth int) { got = append(got, strings.Repeat(" ", depth)+r.urn.Name()) })
	require.Equal(t, []string{"p-dev", " early", " app", "  app-first", "  app-second", " late", " nowhere"}, got)
}

func TestCutMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"application-database-primary", 13, "applic…rimary"}, {"日本語資源名前", 9, "日本…名前"},
		{"abcdef", 3, "ab…"}, {"abc", 0, ""},
	} {
		got := cutMiddle(c.text, c.width)
		require.Equal(t, c.want, got)
		require.LessOrEqual(t, ansi.StringWidth(got), c.width)
	}
}

// Shortened names keep the part in their middle that distinguishes them from their siblings.
func TestNamesAreCutWhereSiblingsAreAlike(t *testing.T) {
	t.Parallel()
	b := newBoard()
	stack := made(engine.OpSame, "", urn.RootStackType, "p-dev", 1)
	b.event(&engine.StepStarted{Step: stack})
	var parents []urn.URN
	for i := range 3 {
		s := made(engine.OpCreate, stack.URN, "components:index:App", fmt.Sprintf("application-number-%03d-of-the-department",
			i), i+2)
		b.event(&engine.StepStarted{Step: s})
		parents = append(parents, s.URN)
	}
	b.event(&engine.StepStarted{Step: made(engine.OpCreate, parents[1], "a:b:C",
		"application-number-001-of-the-department-slow", 9)})
	var got []string
	b.tree.walk(func(r *row, depth int) {
		from, to := r.group.telling(r.label)
		name := cutTelling(r.label, from, to, 20)
		require.LessOrEqual(t, ansi.StringWidth(name), 20)
		got = append(got, name)
	})
	require.Equal(t, []string{"p-dev", "applicati…0…partment", "applicati…1…partment", "…-slow", "applicati…2…partment"},
		got)
}

// BenchmarkFrame measures drawing a frame of an operation with 10,000 resources.
func BenchmarkFrame(b *testing.B) {
	v := still(Options{Width: 120, Height: 40}, io.Discard, time.Now)
	for i := range 10_000 {
		s := made(engine.OpCreate, "", "pkg:mod:Type", fmt.Sprint("resource-", i), i+1)
		v.board.event(&engine.StepStarted{Step: s})
		if i%100 != 0 {
			v.board.event(&engine.StepFinished{Step: s, Op: s.Op})
		}
	}
	for b.Loop() {
		v.draw()
	}
}

// A log names the running step after 20 seconds without a line, and nothing once the step has finished.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		v := newPlain(Options{Out: io.Discard, Err: &log, Operation: "Updating", Stack: "dev"}, masker(nil))
		database := made(engine.OpCreate, "", "aws:rds/instance:Instance", "database", 1)
		v.Event(&engine.StepStarted{Step: database})
		time.Sleep(25 * time.Second)
		synctest.Wait()
		v.Event(&engine.StepFinished{Step: database, Op: database.Op, Duration: 25 * time.Second})
		time.Sleep(time.Minute)
		synctest.Wait()
		v.Close()
		require.Equal(t, 1, strings.Count(log.String(), "still"), log.String())
		require.Contains(t, log.String(), "     still creating database 20s\n")
	})
}

// An operation whose plan was shown, and that then changes nothing, leaves one line on the screen.
func TestNoChangesOnScreen(t *testing.T) {
	t.Parallel()
	for _, op := range []engine.Op{engine.OpSame, engine.OpUpdate} {
		term := vt10x.New(vt10x.WithSize(80, 24))
		screen := newline{term}
		v := still(Options{Operation: "Updating", Stack: "dev", Width: 80, Height: 24, Err: screen, Out: screen, After: true},
			screen, time.Now)
		pet := made(op, "", "a:b:C", "pet", 1)
		v.event(&engine.StepStarted{Step: pet})
		v.draw()
		require.True(t, strings.HasPrefix(screenText(term), "Updating stack dev\n\n"), screenText(term))
		v.event(&engine.StepFinished{Step: pet, Op: op})
		v.event(&engine.Summary{Result: "succeeded", Changes: map[engine.Op]int{op: 1}})
		v.end()
		if op == engine.OpSame {
			require.Equal(t, "No changes.", screenText(term))
		} else {
			require.True(t, strings.HasPrefix(screenText(term), "Updating stack dev\n\n  ~  pet  a:b:C updated"), screenText(term))
		}
	}
}

// The width of any text is the library's.
func TestWidthOf(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "~", " ", "word", "\x1b[31m", "\x1b[0m", "\t", "\n", "\x7f", "é", "e\u0301", "世", "…", "👩‍🚀", "\xff", "\x00"}
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		require.Equal(t, ansi.StringWidth(b.String()), widthOf(b.String()), "%q", b.String())
	}
}

// Nearly all texts of a report are printable ASCII: their widths cost no allocation.
func TestWidthOfPlainTextAllocatesNothing(t *testing.T) {
	text := "aws:s3/bucket:Bucket ~ updated (was other)"
	require.Zero(t, testing.AllocsPerRun(10, func() { widthOf(text) }))
}
