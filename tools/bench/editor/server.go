package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// server is a language server in a process of its own. err holds the first fault, after which the methods do nothing.
type server struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
	err  error
}

// message is the part of a server's message that the measurement reads.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Version int `json:"version"`
	} `json:"params"`
}

func start(binary, dir, plugins string) (*server, error) {
	s := &server{cmd: exec.Command(binary, "lsp")}
	s.cmd.Dir, s.cmd.Stderr = dir, os.Stderr
	s.cmd.Env = append(os.Environ(), "PATH="+plugins+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PULUMI_HOME="+filepath.Join(filepath.Dir(plugins), "home"))
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	s.ask("initialize", map[string]any{"processId": os.Getpid(), "rootUri": "file://" + dir,
		"capabilities": map[string]any{"textDocument": map[string]any{"publishDiagnostics": map[string]any{}}}})
	s.tell("initialized", map[string]any{})
	return s, s.err
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *server) send(m map[string]any) {
	if s.err != nil {
		return
	}
	m["jsonrpc"] = "2.0"
	var body []byte
	if body, s.err = json.Marshal(m); s.err == nil {
		_, s.err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
}

func (s *server) tell(method string, params any) {
	s.send(map[string]any{"method": method, "params": params})
}

// read waits for the next message.
func (s *server) read() (m message) {
	length := 0
	for s.err == nil {
		var line string
		if line, s.err = s.out.ReadString('\n'); line == "\r\n" {
			break
		}
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "Content-Length: "); ok {
			length, s.err = strconv.Atoi(n)
		}
	}
	if s.err != nil {
		return m
	}
	body := make([]byte, length)
	if _, s.err = io.ReadFull(s.out, body); s.err == nil {
		s.err = json.Unmarshal(body, &m)
	}
	return m
}

// ask sends a request, and waits for its answer, which must not be empty.
func (s *server) ask(method string, params any) message {
	s.next++
	id := s.next
	s.send(map[string]any{"id": id, "method": method, "params": params})
	for s.err == nil {
		if m := s.read(); m.ID != nil && *m.ID == id && m.Method == "" {
			if m.Error != nil || string(m.Result) == "null" || len(m.Result) == 0 {
				s.err = fmt.Errorf("%s: no answer: %s", method, m.Error)
			}
			return m
		}
	}
	return message{}
}

// timed measures do until it returns. Work that the server continues afterwards does not count.
func (s *server) timed(do func()) sample {
	cpu, begun := s.cpu(), time.Now()
	do()
	return sample{time.Since(begun), s.cpu() - cpu}
}

// cpu returns the CPU time of the server so far, or 0 if the system does not report it.
func (s *server) cpu() (total time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		spent, _, _ := strings.Cut(string(text), " ")
		if n, err := strconv.ParseInt(spent, 10, 64); err == nil {
			total += time.Duration(n)
		}
	}
	return total
}

// memory returns the server's resident memory in bytes; 0 if the system does not report it.
func (s *server) memory() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	return 0
}

// document is a text that is open in the server. All of it is ASCII.
type document struct {
	server  *server
	uri     string
	lines   []string
	version int
}

func (d *document) open(text string) {
	d.version = 1
	d.server.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": d.uri, "languageId": "yaml",
		"version": d.version, "text": text}})
	d.findings()
}

// findings waits for the findings about the current text.
func (d *document) findings() {
	for d.server.err == nil {
		if m := d.server.read(); m.Method == "textDocument/publishDiagnostics" && m.Params.Version >= d.version {
			return
		}
	}
}

// change replaces a part of a line, and waits for the findings. undo reverses the change.
func (d *document) change(line, from, to int, replacement string) (undo func()) {
	old := d.lines[line][from:to]
	d.lines[line] = d.lines[line][:from] + replacement + d.lines[line][to:]
	d.version++
	place := func(character int) map[string]any { return map[string]any{"line": line, "character": character} }
	d.server.tell("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": d.uri, "version": d.version},
		"contentChanges": []any{map[string]any{"text": replacement,
			"range": map[string]any{"start": place(from), "end": place(to)}}}})
	d.findings()
	return func() { d.change(line, from, from+len(replacement), old) }
}

// answer is the part of an answer about a document that the measurement reads.
type answer struct {
	ResultID string `json:"resultId"`
}

func (d *document) ask(method string, params map[string]any) (a answer) {
	if params == nil {
		params = map[string]any{}
	}
	params["textDocument"] = map[string]any{"uri": d.uri}
	m := d.server.ask("textDocument/"+method, params)
	_ = json.Unmarshal(m.Result, &a) // a list has no name
	return a
}
