package report

import (
	"cmp"
	"context"
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

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// CI writes reports that a CI system shows with a build, without any flag: for GitHub Actions the summary of the step,
// annotations and outputs; for GitLab the reports of its merge requests.
type CI struct {
	System System
	Getenv func(string) string
	// Log receives commands that the system reads from the log of the step.
	Log io.Writer
}

// The files for a job of GitLab in the folder of its project.
const (
	GitLabQuality = "yamlhost-code-quality.json"
	GitLabTests   = "yamlhost-junit.xml"
	GitLabPlan    = "yamlhost-plan.json"
)

// Write reports a finished run to the CI system. An error of one part does not prevent the others.
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

// writeOutputs writes outputs of the step: result, exit-code, changes, the number of each kind, and output-NAME for
// each output of the stack that is a scalar. Secret ones are omitted.
func writeOutputs(w io.Writer, r *Record) error {
	var b strings.Builder
	set := func(name, value string) {
		if !strings.ContainsAny(value, "\n\r") {
			fmt.Fprintf(&b, "%s=%s\n", name, value)
			return
		}
		end := "end-" + rand.Text() // unpredictable, so that a value cannot forge another output
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", name, end, value, end)
	}
	set("result", r.Exit.Name)
	set("exit-code", strconv.Itoa(r.Exit.Code))
	set("changes", strconv.FormatBool(r.changed() > 0))
	counts := r.countsByOp()
	for _, op := range []engine.Op{"create", "update", "replace", "delete", "same"} {
		set(string(op), strconv.Itoa(counts[op]))
	}
	if !r.Planning {
		notInNames := regexp.MustCompile(`[^A-Za-z0-9_-]`)
		for _, out := range r.Outputs {
			if out.Plain != "" {
				set("output-"+notInNames.ReplaceAllString(out.Name, "-"), out.Plain)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writePlanCounts writes the counts that GitLab shows for infrastructure in a merge request.
func writePlanCounts(w io.Writer, r *Record) error {
	n := r.countsByOp()
	return json.NewEncoder(w).Encode(struct {
		Create int `json:"create"`
		Update int `json:"update"`
		Delete int `json:"delete"`
	}{n["create"] + n["import"] + n["replace"], n["update"], n["delete"] + n["replace"]})
}

// countsByOp returns the numbers of the summary by operation.
func (r *Record) countsByOp() map[engine.Op]int {
	counts := map[engine.Op]int{}
	for _, c := range r.Counts {
		counts[c.Op] += c.N
	}
	return counts
}

// Group has the lines by which a log folds a section.
type Group struct{ Begin, End string }

// GroupOf returns the lines around a section of a log in a system; empty if it has none. id is unique in the log.
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

// Origin describes the commit and the build of a run: keys, as in Pulumi's histories (F6.12), with values, none empty
// and in a fixed order.
type Origin [][2]string

// Get returns the value of a key, or "" if unknown.
func (o Origin) Get(key string) string {
	for _, p := range o {
		if p[0] == key {
			return p[1]
		}
	}
	return ""
}

func (o *Origin) add(key, value string) {
	if value != "" {
		*o = append(*o, [2]string{key, value})
	}
}

// OriginOf reads the environment and the git repository around a folder, without starting a program.
func OriginOf(getenv func(string) string, dir string) Origin {
	var o Origin
	head, branch, remote := gitState(dir)
	system := SystemOf(getenv)
	if system == "" && getenv("JENKINS_URL") != "" {
		system = jenkins
	}
	told := variablesOf[system]
	id, url := getenv(told.id), getenv(told.url)
	if system == GitHub && id != "" {
		url = getenv("GITHUB_SERVER_URL") + "/" + getenv("GITHUB_REPOSITORY") + "/actions/runs/" + id
	}
	o.add("ci.system", told.system)
	o.add("ci.build.id", id)
	o.add("ci.build.number", getenv(told.number))
	o.add("ci.build.type", getenv(told.kind))
	o.add("ci.build.url", url)
	head = cmp.Or(head, getenv(told.commit))
	for _, name := range told.branch {
		branch = cmp.Or(branch, getenv(name))
	}
	o.add("git.head", head)
	o.add("git.headName", branch)
	if m := regexp.MustCompile(remoteParts).FindStringSubmatch(remote); m != nil {
		o.add("vcs.kind", m[1])
		o.add("vcs.owner", m[2])
		o.add("vcs.repo", m[3])
	}
	return o
}

// remoteParts matches the parts of a git remote: host, owner and repository, without a user or a password before the
// host.
const remoteParts = `^(?:[a-z+]+://)?(?:[^@/]*@)?([^:/]+)(?::\d+/|[:/])(.+)/([^/]+?)(?:\.git)?/?$`

// gitState reads the repository around a folder: the commit, the branch and the remote origin. A missing part is
// empty.
func gitState(dir string) (head, branch, remote string) {
	for root := dir; ; root = filepath.Dir(root) {
		git := filepath.Join(root, ".git")
		if info, err := confine.Anywhere().Stat(git); err == nil {
			if !info.IsDir() { // a worktree: the file names the folder
				text, _ := confine.Anywhere().ReadFile(context.Background(), git)
				path, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
				if !found {
					return "", "", ""
				}
				if git = path; !filepath.IsAbs(git) {
					git = filepath.Join(root, git)
				}
			}
			return readGit(git)
		}
		if filepath.Dir(root) == root {
			return "", "", ""
		}
	}
}

func readGit(git string) (head, branch, remote string) {
	read := func(path ...string) string {
		text, _ := confine.Anywhere().ReadFile(context.Background(), filepath.Join(path...))
		return strings.TrimSpace(string(text))
	}
	common := git
	if text := read(git, "commondir"); text != "" {
		if common = text; !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
	}
	head = read(git, "HEAD")
	if ref, symbolic := strings.CutPrefix(head, "ref: "); symbolic {
		branch = ref
		if head = read(common, filepath.FromSlash(ref)); head == "" {
			for line := range strings.SplitSeq(read(common, "packed-refs"), "\n") {
				if sum, found := strings.CutSuffix(line, " "+ref); found {
					head = sum
				}
			}
		}
	}
	section := ""
	for line := range strings.SplitSeq(read(common, "config"), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if key, value, found := strings.Cut(line, "="); found && section == `[remote "origin"]` &&
			strings.TrimSpace(key) == "url" {
			remote = strings.TrimSpace(value)
		}
	}
	return head, branch, remote
}

// System is a CI system; empty for none.
type System string

// The systems with reports of their own.
const (
	GitHub    System = "github"
	GitLab    System = "gitlab"
	Azure     System = "azure"
	Buildkite System = "buildkite"
	TeamCity  System = "teamcity"
)

// Systems are the values of --ci besides auto and none.
var Systems = []System{GitHub, GitLab, Azure, Buildkite, TeamCity}

// SystemOf returns the CI system by the variables that it sets.
func SystemOf(getenv func(string) string) System {
	switch {
	case getenv("GITHUB_ACTIONS") == "true":
		return GitHub
	case getenv("GITLAB_CI") == "true":
		return GitLab
	case getenv("TF_BUILD") == "True" || getenv("TF_BUILD") == "true":
		return Azure
	case getenv("BUILDKITE") == "true":
		return Buildkite
	case getenv("TEAMCITY_VERSION") != "":
		return TeamCity
	}
	return ""
}

// variables are the names of the variables in which a CI system describes a build; empty if there is none.
type variables struct {
	system                              string // its name in histories
	id, number, kind, url, commit, root string
	branch                              []string // the first one that is set wins
}

// jenkins has variables but no reports.
const jenkins System = "jenkins"

var variablesOf = map[System]variables{
	GitHub: {system: "GitHub Actions", id: "GITHUB_RUN_ID", number: "GITHUB_RUN_NUMBER", kind: "GITHUB_EVENT_NAME",
		commit: "GITHUB_SHA", branch: []string{"GITHUB_HEAD_REF", "GITHUB_REF"}, root: "GITHUB_WORKSPACE"},
	GitLab: {system: "GitLab CI/CD", id: "CI_PIPELINE_ID", number: "CI_PIPELINE_IID", kind: "CI_PIPELINE_SOURCE",
		url: "CI_JOB_URL", commit: "CI_COMMIT_SHA", branch: []string{"CI_COMMIT_REF_NAME"}, root: "CI_PROJECT_DIR"},
	Azure: {system: "Azure Pipelines", id: "BUILD_BUILDID", number: "BUILD_BUILDNUMBER", kind: "BUILD_REASON",
		commit: "BUILD_SOURCEVERSION", branch: []string{"BUILD_SOURCEBRANCHNAME"}, root: "BUILD_SOURCESDIRECTORY"},
	Buildkite: {system: "Buildkite", id: "BUILDKITE_BUILD_ID", number: "BUILDKITE_BUILD_NUMBER",
		url: "BUILDKITE_BUILD_URL", commit: "BUILDKITE_COMMIT", branch: []string{"BUILDKITE_BRANCH"},
		root: "BUILDKITE_BUILD_CHECKOUT_PATH"},
	TeamCity: {system: "TeamCity", number: "BUILD_NUMBER", commit: "BUILD_VCS_NUMBER"},
	jenkins: {system: "Jenkins", number: "BUILD_NUMBER", url: "BUILD_URL", commit: "GIT_COMMIT",
		branch: []string{"GIT_BRANCH"}},
}

// Root returns the folder of the repository that a system has checked out, or "" if the system does not provide it.
func (s System) Root(getenv func(string) string) string { return getenv(variablesOf[s].root) }
