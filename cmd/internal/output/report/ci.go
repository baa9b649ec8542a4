package report

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// CI writes what a CI system shows beside a build, without any flag: under GitHub Actions the summary of the step,
// annotations and outputs; under GitLab the reports that its merge requests read.
type CI struct {
	System System
	Getenv func(string) string
	// Log is where commands to the system go, which it reads from the log of the step.
	Log io.Writer
}

// The files that a job under GitLab finds in the folder of its project.
const (
	GitLabQuality = "yamlhost-code-quality.json"
	GitLabTests   = "yamlhost-junit.xml"
	GitLabPlan    = "yamlhost-plan.json"
)

// Write reports a finished run to the CI system. A fault of one part does not keep the others from being written.
func (c CI) Write(r *Record) error {
	switch c.System {
	case GitHub:
		return errors.Join(writeGitHub(c.Log, r), c.appendTo("GITHUB_STEP_SUMMARY",
			func(w io.Writer) error { return WriteMarkdown(w, r) }),
			c.appendTo("GITHUB_OUTPUT", func(w io.Writer) error { return writeOutputs(w, r) }))
	case GitLab:
		dir := c.Getenv("CI_PROJECT_DIR")
		if dir == "" {
			return nil
		}
		var err error
		for _, part := range []struct {
			file  string
			write func(io.Writer, *Record) error
		}{{GitLabQuality, writeGitLab}, {GitLabTests, writeJUnit}, {GitLabPlan, writePlanCounts}} {
			err = errors.Join(err, writeTo(filepath.Join(dir, part.file), os.O_TRUNC,
				func(w io.Writer) error { return part.write(w, r) }))
		}
		return err
	}
	return nil
}

// appendTo appends to the file that a variable names; without the variable nothing happens.
func (c CI) appendTo(variable string, write func(io.Writer) error) error {
	path := c.Getenv(variable)
	if path == "" {
		return nil
	}
	return writeTo(path, os.O_APPEND, write)
}

func writeTo(path string, flag int, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// notInNames matches the characters that the name of a step's output cannot have.
var notInNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^A-Za-z0-9_-]`)
})

// writeOutputs writes outputs of the step: result, exit-code, changes, how many of each kind, and output-NAME for each
// output of the stack that is a scalar. A secret one is left out.
func writeOutputs(w io.Writer, r *Record) error {
	var b strings.Builder
	set := func(name, value string) {
		if !strings.ContainsAny(value, "\n\r") {
			fmt.Fprintf(&b, "%s=%s\n", name, value)
			return
		}
		end := "end-" + rand.Text() // a value cannot know it, and so cannot forge another output
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", name, end, value, end)
	}
	set("result", r.Exit.Name)
	set("exit-code", strconv.Itoa(r.Exit.Code))
	set("changes", strconv.FormatBool(r.changed() > 0))
	counts := map[string]int{}
	for _, c := range r.Counts {
		counts[string(c.Op)] = c.N
	}
	for _, op := range []string{"create", "update", "replace", "delete", "same"} {
		set(op, strconv.Itoa(counts[op]))
	}
	if !r.Planning {
		for _, out := range r.Outputs {
			if out.Plain != "" {
				set("output-"+notInNames().ReplaceAllString(out.Name, "-"), out.Plain)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writePlanCounts writes the counts that GitLab shows for infrastructure in a merge request.
func writePlanCounts(w io.Writer, r *Record) error {
	counts := struct {
		Create int `json:"create"`
		Update int `json:"update"`
		Delete int `json:"delete"`
	}{}
	for _, c := range r.Counts {
		switch c.Op {
		case "create", "import":
			counts.Create += c.N
		case "update":
			counts.Update += c.N
		case "replace":
			counts.Create += c.N
			counts.Delete += c.N
		case "delete":
			counts.Delete += c.N
		}
	}
	return json.NewEncoder(w).Encode(counts)
}

// Group is how a log folds what belongs together.
type Group struct{ Begin, End string }

// GroupOf are the lines around a section of a log in a system; empty where it has none. id is unique in the log.
func GroupOf(s System, id, title string, unix int64) Group {
	title = strings.NewReplacer("\n", " ", "\r", " ").Replace(title)
	switch s {
	case GitHub:
		return Group{"::group::" + strings.ReplaceAll(title, "%", "%25"), "::endgroup::"}
	case GitLab:
		return Group{fmt.Sprintf("\x1b[0Ksection_start:%d:%s\r\x1b[0K%s", unix, id, title),
			fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K", unix, id)}
	case Azure:
		return Group{"##[group]" + title, "##[endgroup]"}
	case Buildkite:
		return Group{"--- " + title, ""}
	case TeamCity:
		name := strings.NewReplacer("|", "||", "'", "|'", "[", "|[", "]", "|]").Replace(title)
		return Group{"##teamcity[blockOpened name='" + name + "']", "##teamcity[blockClosed name='" + name + "']"}
	}
	return Group{}
}
