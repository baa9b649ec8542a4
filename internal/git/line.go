package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Commit is the commit that last changed a line.
type Commit struct {
	ID      string // empty for a line that is not committed
	Subject string
	Time    time.Time // of its author
}

// LastChange returns the commit that last changed a line of a file, from 1. known is false if that cannot be told: the
// file is in no repository or not tracked, there is no git, or the history is not all here.
//
// Only commits are looked at, since reading the file through git could run a filter of the repository, and nothing is
// fetched: a line is found in the last commit by its distance from the start or the end of the file, as far as the two
// texts are equal. A line between two changes counts as not committed.
func LastChange(ctx context.Context, env []string, file string, line int) (c Commit, known bool) {
	dir, name := filepath.Dir(file), "./"+filepath.Base(file)
	env = append(append([]string{}, env...), "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0")
	now, err := os.ReadFile(file)
	if err != nil {
		return c, false
	}
	was, err := run(ctx, dir, env, "", "cat-file", "blob", "HEAD:"+name)
	if err != nil {
		return c, false
	}
	at, committed := lineBefore(linesOf([]byte(was)), linesOf(now), line)
	if !committed {
		return c, true
	}
	said, err := run(ctx, dir, env, "", "blame", "--porcelain", "--no-textconv", "-L", strconv.Itoa(at)+",+1",
		"HEAD", "--", name)
	if err != nil {
		return c, false
	}
	for text := range strings.Lines(said) {
		key, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), " ")
		switch {
		case c.ID == "":
			c.ID = key
		case key == "author-time":
			if seconds, err := strconv.ParseInt(rest, 10, 64); err == nil {
				c.Time = time.Unix(seconds, 0)
			}
		case key == "summary":
			c.Subject = rest
		case key == "boundary": // the first commit, or the oldest of a shallow copy, which has every older line
			shallow, err := run(ctx, dir, env, "", "rev-parse", "--is-shallow-repository")
			if err != nil || strings.TrimSpace(shallow) != "false" {
				return Commit{}, false
			}
		}
	}
	return c, c.ID != ""
}

func linesOf(text []byte) [][]byte {
	return bytes.Split(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"))
}

// lineBefore returns the number of a line in the former text; false if it lies between changes.
func lineBefore(was, now [][]byte, line int) (int, bool) {
	if line < 1 || line > len(now) {
		return 0, false
	}
	for i := range line {
		if i >= len(was) || !bytes.Equal(was[i], now[i]) {
			break
		}
		if i == line-1 {
			return line, true
		}
	}
	for i := 1; i <= len(was) && i <= len(now) && bytes.Equal(was[len(was)-i], now[len(now)-i]); i++ {
		if len(now)-i == line-1 {
			return len(was) - i + 1, true
		}
	}
	return 0, false
}
