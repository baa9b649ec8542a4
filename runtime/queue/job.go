package queue

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Source is the origin of a project's files: either a commit of a git repository or an archive.
type Source struct {
	Git     string `json:"git,omitempty"`     // URL, without credentials
	Commit  string `json:"commit,omitempty"`  // 40 or 64 hexadecimal digits
	Archive string `json:"archive,omitempty"` // SHA-256 of an archive in the backend, hexadecimal
}

// String returns the source for messages.
func (s Source) String() string {
	if s.Git != "" {
		return s.Git + " at " + s.Commit[:min(10, len(s.Commit))]
	}
	return "archive " + s.Archive[:min(10, len(s.Archive))]
}

// Check returns an error for an invalid source, and for one that contains a secret.
func (s Source) Check() error {
	switch {
	case (s.Git == "") == (s.Archive == ""):
		return errors.New("a job names a git repository or an archive")
	case s.Archive != "":
		return digits("the digest of the archive", s.Archive, 64)
	case len(s.Commit) != 40 && len(s.Commit) != 64:
		return fmt.Errorf("%q is not a commit: write all of its digits", s.Commit)
	}
	if strings.HasPrefix(s.Git, "-") || strings.ContainsAny(s.Git, "\x00\n\r ") {
		return fmt.Errorf("%q is not a URL of a repository", s.Git)
	}
	if u, err := url.Parse(s.Git); err == nil && u.User != nil {
		if _, has := u.User.Password(); has || u.Scheme == "https" || u.Scheme == "http" {
			return errors.New("the URL of the repository has credentials in it, and jobs hold no secrets: configure " +
				"credentials on the workers")
		}
	}
	return digits("the commit", s.Commit, len(s.Commit))
}

func digits(what, text string, n int) error {
	if _, err := hex.DecodeString(text); err != nil || len(text) != n {
		return fmt.Errorf("%s takes %d hexadecimal digits, not %q", what, n, text)
	}
	return nil
}

// Job is one command on one stack.
type Job struct {
	Run         string   `json:"run"`     // name shared by the jobs of a submission
	Command     string   `json:"command"` // run, preview, refresh, destroy or drift
	Project     string   `json:"project"`
	Stack       string   `json:"stack"`
	Path        string   `json:"path"` // of the project in the source, with slashes
	Source      Source   `json:"source"`
	Flags       []string `json:"flags,omitempty"`       // from AllowedFlags
	Environment string   `json:"environment,omitempty"` // the environment whose slots it takes; empty for none
	Slots       int      `json:"slots,omitempty"`       // maximum number of parallel jobs of the environment

	// Planned holds the planned outputs of the previews that this preview needs, by the keys of their stacks. The
	// worker sets it.
	Planned map[string][]byte `json:"-"`
}

// Kind returns River's name for this kind of job.
func (Job) Kind() string { return "yamlhost_stack" }

// Key returns project/stack.
func (j Job) Key() string { return j.Project + "/" + j.Stack }

// commands are the commands that a job may run.
var commands = []string{"run", "preview", "refresh", "destroy", "drift"}

// AllowedFlags are the flags that a job may have. None of them can hold a secret or name a file.
var AllowedFlags = []string{"--continue-on-error", "--refresh=true", "--expect-no-changes", "--exit-code", "--remove"}

// Check returns an error for a job that no worker may execute. Workers also call it, because others can insert jobs
// into the database.
func (j Job) Check() error {
	if !slices.Contains(commands, j.Command) {
		return fmt.Errorf("a job cannot do %q", j.Command)
	}
	for _, flag := range j.Flags {
		if !slices.Contains(AllowedFlags, flag) {
			return fmt.Errorf("a job cannot have the flag %q", flag)
		}
	}
	if j.Path != "." && (path.Clean(j.Path) != j.Path || !filepath.IsLocal(filepath.FromSlash(j.Path))) {
		return fmt.Errorf("%q is not a folder of the source", j.Path)
	}
	if j.Stack == "" || strings.HasPrefix(j.Stack, "-") || strings.Contains(j.Stack, "/") {
		return fmt.Errorf("%q is not a name of a stack", j.Stack)
	}
	return j.Source.Check()
}

// Result is the result of a job.
type Result struct {
	Code   int    `json:"code"`   // exit code of the command
	Name   string `json:"name"`   // of the code
	Log    string `json:"log"`    // end of the output, without secrets
	Worker string `json:"worker"` // the name of the worker

	// Planned holds the planned outputs of a preview for the previews that need it, without secrets; nil for none.
	// Entry does not include it.
	Planned []byte `json:"-"`
}

// Runner executes a job whose files are in dir. Closing interrupt ends it early.
type Runner func(ctx context.Context, j Job, dir string, interrupt <-chan struct{}) Result

// Well reports whether dependent jobs may continue after an exit code: 0, changes (7) and drift (17), which are results
// and not failures.
func Well(code int) bool { return code == 0 || code == 7 || code == 17 }

// State is the state of a job.
type State string

// The states.
const (
	Waiting   State = "waiting" // for its dependencies, its turn, or another attempt
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled" // by a user, or because a job that it needs has failed
)

// Entry is a job in the queue.
type Entry struct {
	ID       int64 `json:"id"`
	Job      Job   `json:"job"`
	State    State `json:"state"`
	Priority int   `json:"priority"` // from 1, the first, to 4
	Attempt  int   `json:"attempt"`
	Attempts int   `json:"attempts"` // how many attempts may fail
	// Next is when the next attempt may begin; zero for a job that was not tried yet, that runs, or that has ended.
	Next    time.Time `json:"next,omitzero"`
	Needs   []int64   `json:"needs,omitempty"`
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`
	Errors  []string  `json:"errors,omitempty"`
	Result  *Result   `json:"result,omitempty"`
}

// Schedule is a submission that is repeated regularly.
type Schedule struct {
	Name  string    `json:"name"`
	Every int64     `json:"every"` // seconds
	Next  time.Time `json:"next"`
	Jobs  []Job     `json:"jobs"`
}

// Ended is the result of Cancel: the number of jobs that were cancelled, and whether a schedule was ended.
type Ended struct {
	Jobs     int
	Schedule bool
}

// Over reports whether the job has ended.
func (e *Entry) Over() bool { return e.State != Waiting && e.State != Running }

// Again names the attempt that follows the last one that failed, and its time.
func (e *Entry) Again() string {
	if e.State == Running {
		return fmt.Sprintf("attempt %d of %d now", e.Attempt, e.Attempts)
	}
	return fmt.Sprintf("attempt %d of %d at %s", e.Attempt+1, e.Attempts, e.Next.UTC().Format(time.TimeOnly+" UTC"))
}

// Submission is a set of jobs that enter the queue together. Needs[i] holds the indices of the jobs that job i waits
// for; all are lower than i.
type Submission struct {
	Jobs     []Job   `json:"jobs"`
	Needs    [][]int `json:"needs"`
	Priority int     `json:"priority"` // from 1, the first, to 4
}

// WorkerOptions are the settings of a worker.
type WorkerOptions struct {
	Name  string   // unique among the running workers
	Jobs  int      // maximum number of parallel jobs
	Allow []string // allowed sources; see Allows
	Env   []string // environment of git
	Run   Runner
	Grace time.Duration     // how long a job may run without its lock before another worker gets it; 0 for 15 seconds
	Tell  func(text string) // receives messages for the log; may be nil
	// Archives stores the archives of jobs; nil for a worker that allows none.
	Archives Archives
	Folder   string // parent of the worker's folder; empty for the system's temporary folder
}

// Allows reports whether list contains an entry for the source: the URL of its repository, a prefix of the URL that
// ends before a slash, or the word archive.
func Allows(list []string, s Source) bool {
	for _, entry := range list {
		base := strings.TrimSuffix(entry, "/")
		if s.Archive != "" && entry == "archive" || s.Git != "" && (s.Git == base || strings.HasPrefix(s.Git, base+"/")) {
			return true
		}
	}
	return false
}

// Retry reports whether a command may be repeated automatically after an exit code, because all its steps have ended. A
// command with steps in flight (10) waits for a user, and a preview that failed (14) for a change.
func Retry(command string, code int) bool {
	return slices.Contains([]int{9, 14, 15, 18, 19}, code) && !(code == 14 && command == "preview")
}
