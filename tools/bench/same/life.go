package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome holds the results of a life: values by their places, such as "run/state resources/3/inputs/value".
type outcome map[string]string

// steps are the commands of a life.
var steps = []string{"run", "again", "destroy"}

// limit is how long one command may take.
const limit = 90 * time.Second

// life runs a program, runs it again and destroys it.
func (c *comparison) life(binary string, p program) (outcome, error) {
	root, err := os.MkdirTemp("", "same-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	o := outcome{}
	for _, dir := range []string{"project", "state", "home", "kept"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			return nil, err
		}
	}
	dir, err := p.unpack(filepath.Join(root, "project"))
	if err != nil {
		return nil, err
	}
	run := []string{"run", "--json", "--parallel", "1"}
	first := run
	for _, setting := range p.config {
		first = append(first[:len(first):len(first)], "--config", setting)
	}
	destroy := []string{"destroy", "--yes", "--skip-preview", "--json", "--parallel", "1", "--stack", "dev"}
	for i, args := range [][]string{first, run, destroy} {
		if err := c.step(o, steps[i], binary, root, dir, args); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (c *comparison) step(o outcome, name, binary, root, dir string, args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"--non-interactive", "--offline"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PULUMI_BACKEND_URL=file://" + filepath.Join(root, "state"), "PULUMI_CONFIG_PASSPHRASE=x",
		"HOME=" + filepath.Join(root, "home"), "NO_COLOR=1", "PATH=" + c.bin + ":" + os.Getenv("PATH")}
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	stacks := filepath.Join(root, "state", ".pulumi", "stacks")
	kept := filepath.Join(root, "kept", name)
	watched, stop := make(chan struct{}), make(chan struct{})
	go keepJournal(stacks, kept, stop, watched)
	failed := cmd.Run()
	close(stop)
	<-watched
	if exit := (*exec.ExitError)(nil); failed != nil && !errors.As(failed, &exit) {
		return failed
	}
	plain := func(text string) string { return volatile(strings.ReplaceAll(text, root, "ROOT")) }
	o[name+"/exit"] = strconv.Itoa(cmd.ProcessState.ExitCode())
	if out.Len() == 0 {
		o[name+"/said"] = plain(err.String())
	}
	events(o, name, plain(out.String()))
	for kind, file := range map[string]string{"state": onlyFile(stacks, ".json"), "history": onlyFile(filepath.Join(root,
		"state", ".pulumi", "history"), ".history.json")} {
		if text, err := os.ReadFile(file); err == nil {
			if err := flattenText(o, name+"/"+kind, []byte(plain(string(text)))); err != nil {
				return err
			}
		}
	}
	data, failed := os.ReadFile(kept)
	if failed != nil {
		return nil
	}
	records, failed := readJournal(data)
	for i, r := range records {
		if err := flattenText(o, fmt.Sprintf("%s/journal%03d", name, i), []byte(plain(string(r)))); err != nil {
			return err
		}
	}
	return failed
}

// keepJournal links the journal that appears in a folder to a second name, so that it is not lost.
func keepJournal(folder, kept string, stop, done chan struct{}) {
	defer close(done)
	for {
		if file := onlyFile(folder, "-journal"); file != "" && os.Link(file, kept) == nil {
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// onlyFile returns the last file below a folder whose name ends with suffix; empty if there is none.
func onlyFile(folder, suffix string) (found string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
			found = path
		}
		return nil // a file that has been removed meanwhile does not count
	})
	return found
}

// readJournal splits a journal into its records. A signature comes first; each record has its length and checksum, its
// kind and JSON.
func readJournal(data []byte) (records [][]byte, err error) {
	const signature, frame = 8, 8
	for i := signature; i+frame < len(data); {
		n := int(binary.LittleEndian.Uint32(data[i:]))
		if i+frame+n > len(data) || n < 1 {
			return records, fmt.Errorf("the journal is cut at byte %d of %d", i, len(data))
		}
		payload := data[i+frame : i+frame+n]
		kind, err := json.Marshal(string(payload[:1]))
		if err != nil {
			return records, err
		}
		records = append(records, fmt.Appendf(nil, `{"kind":%s,"record":%s}`, kind, payload[1:]))
		i += frame + n
	}
	return records, nil
}

// events adds events to an outcome, in order for each resource: steps of different resources run at the same time.
func events(o outcome, name, text string) {
	count := map[string]int{}
	for line := range strings.SplitSeq(text, "\n") {
		var e map[string]any
		if json.Unmarshal([]byte(line), &e) != nil {
			if line != "" {
				o[fmt.Sprintf("%s/out%03d", name, len(count))] = line
			}
			continue
		}
		delete(e, "sequence")
		delete(e, "timestamp")
		about := subjectOf(e)
		path := fmt.Sprintf("%s/events %s/%d", name, about, count[about])
		count[about]++
		flatten(o, path, e)
	}
}

// subjectOf returns the kind of an event and the URN that it is about.
func subjectOf(e map[string]any) string {
	for kind, body := range e {
		fields, _ := body.(map[string]any)
		if metadata, ok := fields["metadata"].(map[string]any); ok {
			return fmt.Sprint(kind, " ", metadata["urn"])
		}
		return fmt.Sprint(kind, " ", fields["urn"])
	}
	return ""
}

func flattenText(o outcome, path string, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	flatten(o, path+" ", v)
	return nil
}

func flatten(o outcome, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			o[path] = "{}"
		}
		for key, item := range v {
			switch key {
			case "startTime", "endTime", "durationSeconds": // seconds, in which two runs may be the same
			default:
				flatten(o, path+"/"+key, item)
			}
		}
	case []any:
		if len(v) == 0 {
			o[path] = "[]"
		}
		for i, item := range v {
			flatten(o, path+"/"+strconv.Itoa(i), item)
		}
	default:
		text, _ := json.Marshal(v) // decoded JSON can always be encoded
		o[path] = string(text)
	}
}

var volatiles = []struct {
	match *regexp.Regexp
	with  string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:\d\d)`), "TIME"},
}

// volatile removes from a text the parts that differ from run to run and have a known form, such as times.
func volatile(text string) string {
	for _, v := range volatiles {
		text = v.match.ReplaceAllString(text, v.with)
	}
	return text
}

// stable returns the common part of two runs, and the places where they differ.
func stable(a, b outcome) (common outcome, unstable map[string]bool) {
	common, unstable = outcome{}, map[string]bool{}
	for key := range joined(a, b) {
		if shown(a, key) == shown(b, key) {
			common[key] = a[key]
		} else {
			unstable[key] = true
		}
	}
	return common, unstable
}

func joined(a, b outcome) map[string]bool {
	all := map[string]bool{}
	for key := range maps.Keys(a) {
		all[key] = true
	}
	for key := range maps.Keys(b) {
		all[key] = true
	}
	return all
}

// unseen removes the journals of commands that only some runs of a program have, because a journal may be removed
// before keepJournal sees it.
func unseen(runs []outcome) (missed int) {
	for _, step := range steps {
		having := 0
		for _, o := range runs {
			if o.has(step + "/journal000 /kind") {
				having++
			}
		}
		if having == 0 || having == len(runs) {
			continue
		}
		missed++
		for _, o := range runs {
			maps.DeleteFunc(o, func(key, _ string) bool { return strings.HasPrefix(key, step+"/journal") })
		}
	}
	return missed
}

func (o outcome) has(key string) bool {
	_, ok := o[key]
	return ok
}

func shown(o outcome, key string) string {
	if text, ok := o[key]; ok {
		return text
	}
	return "(nothing)"
}
