package pipelines

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/workspace/projects"
)

// A Kind is a format of pipelines.
type Kind struct {
	Name  string
	write func(w io.Writer, jobs []job)
}

// kinds lists all kinds in the order of the help.
var kinds = []Kind{
	{"github-matrix", github}, {"gitlab-pipeline", gitlab}, {"azure-stages", azure},
}

// Kinds returns the names of all kinds.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// Find returns the kind called name.
func Find(name string) (Kind, error) {
	for _, k := range kinds {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("--emit takes %s, not %q%s", strings.Join(Kinds(), ", "), name,
		diag.DidYouMean(name, Kinds()))
}

// A job is a stack in a pipeline.
type job struct {
	name  string   // unique, and valid in names of jobs and files: letters, digits, _ and -
	dir   string   // folder of the project, relative to the repository, with slashes
	stack string   // stack of the project
	needs []string // names of dependencies
	users []string // names of dependants
}

// Write writes the pipeline of a graph. base is the path of the root folder relative to the repository, with slashes;
// "." if they are the same.
func (k Kind) Write(w io.Writer, g *projects.Graph, base string) error {
	jobs, err := jobsOf(g, base)
	if err != nil {
		return err
	}
	var b strings.Builder
	k.write(&b, jobs)
	_, err = io.WriteString(w, b.String())
	return err
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// jobsOf returns the jobs of a graph, each after its dependencies.
func jobsOf(g *projects.Graph, base string) ([]job, error) {
	names := make([]string, len(g.Members))
	taken := map[string]bool{}
	for i, m := range g.Members {
		if strings.ContainsAny(m.Path+m.Stack+base, "\n\r$`\"\\") {
			return nil, fmt.Errorf("the folder %q has characters in its name that a pipeline cannot pass on", m.Path)
		}
		name := notInNames.ReplaceAllString(m.Project.Name.Text+"_"+m.Stack, "_")
		if name[0] >= '0' && name[0] <= '9' || name[0] == '_' {
			name = "p" + name
		}
		for n := 2; taken[name]; n++ {
			name = notInNames.ReplaceAllString(fmt.Sprintf("%s_%s_%d", m.Project.Name.Text, m.Stack, n), "_")
		}
		taken[name], names[i] = true, name
	}
	users := map[string][]string{}
	var jobs []job
	for _, i := range g.Order() {
		m := g.Members[i]
		j := job{name: names[i], dir: m.Path, stack: m.Stack}
		if base != "." {
			j.dir = strings.TrimSuffix(base+"/"+m.Path, "/.")
		}
		for _, need := range g.Needs(i) {
			j.needs = append(j.needs, names[need])
			users[names[need]] = append(users[names[need]], j.name)
		}
		jobs = append(jobs, j)
	}
	for i := range jobs {
		jobs[i].users = users[jobs[i].name]
	}
	return jobs, nil
}

// quoted returns text as a double-quoted YAML scalar.
func quoted(text string) string { return strconv.Quote(text) }

const head = "# Written by `yamlhost run --all --emit %s`. Write it anew when projects or their references change.\n"

// These commands are the same in every system. DIR, STACK and PLAN are environment variables.
const (
	planCommand  = `yamlhost run "$DIR" --stack "$STACK" --plan-only --save-plan "$PLAN"`
	applyCommand = `yamlhost run "$DIR" --stack "$STACK" --plan "$PLAN"`
)

// mostInMatrix is GitHub's limit of jobs in a matrix.
const mostInMatrix = 256

// A matrix is a set of jobs that share a GitHub matrix: they have the same dependencies and the same dependants. GitHub
// skips all jobs that need a matrix if one of its jobs fails, so only such jobs may share one.
type matrix struct {
	name string
	jobs []job
}

// matrices groups jobs into matrices, each after its dependencies.
func matrices(jobs []job) []*matrix {
	var list []*matrix
	open := map[string]*matrix{} // matrices that are not full, by dependencies and dependants
	for _, j := range jobs {
		kind := strings.Join(slices.Sorted(slices.Values(j.needs)), " ") + "/" +
			strings.Join(slices.Sorted(slices.Values(j.users)), " ")
		m := open[kind]
		if m == nil || len(m.jobs) == mostInMatrix {
			m = &matrix{}
			open[kind] = m
			list = append(list, m)
		}
		m.jobs = append(m.jobs, j)
	}
	for _, m := range list {
		m.name = m.jobs[0].name
		if n := len(m.jobs); n > 1 {
			m.name += fmt.Sprintf("-and-%d-more", n-1)
		}
	}
	return list
}

// github writes a GitHub workflow with two jobs for each matrix: one that plans and one that applies.
func github(w io.Writer, jobs []job) {
	fmt.Fprintf(w, head, "github-matrix")
	fmt.Fprint(w, "name: yamlhost\non:\n  workflow_dispatch:\n  push:\n    branches: [main]\n"+
		"permissions:\n  contents: read\nconcurrency:\n  group: yamlhost\nenv:\n  PULUMI_BACKEND_URL: ${{ vars.PULUMI_BACKEND_URL }}\n"+
		"  PULUMI_CONFIG_PASSPHRASE: ${{ secrets.PULUMI_CONFIG_PASSPHRASE }}\njobs:\n")
	list := matrices(jobs)
	names := map[string]string{} // names of matrices, by job
	for _, m := range list {
		for _, j := range m.jobs {
			names[j.name] = m.name
		}
	}
	for _, m := range list {
		var needs []string
		for _, need := range m.jobs[0].needs {
			needs = append(needs, "apply_"+names[need])
		}
		slices.Sort(needs)
		m.write(w, "plan", slices.Compact(needs), planCommand)
		m.write(w, "apply", []string{"plan_" + m.name}, applyCommand)
	}
	if len(list) == 0 {
		fmt.Fprint(w, "  nothing:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo there is no project\n")
	}
}

// write writes the job that plans or applies; verb is its kind.
func (m *matrix) write(w io.Writer, verb string, needs []string, command string) {
	fmt.Fprintf(w, "  %s_%s:\n    name: %s ${{ matrix.name }}\n    runs-on: ubuntu-latest\n", verb, m.name, verb)
	if len(needs) > 0 {
		fmt.Fprintf(w, "    needs: [%s]\n", strings.Join(needs, ", "))
	}
	plans := verb == "plan"
	if !plans && len(m.jobs) > 1 { // a failed plan must not block the others
		fmt.Fprintf(w, "    if: ${{ !cancelled() && needs.%s.result != 'skipped' }}\n", needs[0])
	}
	fmt.Fprint(w, "    strategy:\n      fail-fast: false\n      matrix:\n        include:\n")
	for _, j := range m.jobs {
		fmt.Fprintf(w, "          - {name: %s, dir: %s, stack: %s}\n", quoted(j.name), quoted(j.dir), quoted(j.stack))
	}
	fmt.Fprint(w, "    env:\n      DIR: ${{ matrix.dir }}\n      STACK: ${{ matrix.stack }}\n"+
		"      PLAN: ${{ matrix.name }}.plan.json\n    steps:\n      - uses: actions/checkout@v4\n")
	if plans {
		fmt.Fprintf(w, "      - run: %s\n      - uses: actions/upload-artifact@v4\n        with:\n"+
			"          name: plan-${{ matrix.name }}\n          path: ${{ matrix.name }}.plan.json\n", command)
		return
	}
	fmt.Fprintf(w, "      - uses: actions/download-artifact@v4\n        with:\n          name: plan-${{ matrix.name }}\n"+
		"      - run: %s\n", command)
}

// gitlab writes a GitLab pipeline in which each job waits only for the jobs that it needs.
func gitlab(w io.Writer, jobs []job) {
	fmt.Fprintf(w, head, "gitlab-pipeline")
	fmt.Fprint(w, "# PULUMI_BACKEND_URL and PULUMI_CONFIG_PASSPHRASE are variables of the project.\nstages: [yamlhost]\n")
	if len(jobs) == 0 {
		fmt.Fprint(w, "nothing:\n  stage: yamlhost\n  script:\n    - echo there is no project\n")
	}
	for _, j := range jobs {
		variables := fmt.Sprintf("  variables: {DIR: %s, STACK: %s, PLAN: %s}\n", quoted(j.dir), quoted(j.stack),
			quoted(j.name+".plan.json"))
		var needs []string
		for _, need := range j.needs {
			needs = append(needs, quoted("apply_"+need))
		}
		fmt.Fprintf(w, "plan_%s:\n  stage: yamlhost\n  needs: [%s]\n%s  script:\n    - %s\n"+
			"  artifacts:\n    paths: [%s]\n    expire_in: 1 week\n", j.name, strings.Join(needs, ", "), variables,
			planCommand, quoted(j.name+".plan.json"))
		fmt.Fprintf(w, "apply_%s:\n  stage: yamlhost\n  needs: [%s]\n  resource_group: %s\n%s  script:\n    - %s\n", j.name,
			quoted("plan_"+j.name), quoted(j.name), variables, applyCommand)
	}
}

// azure writes Azure stages: one for each stack, with a job that plans and one that applies.
func azure(w io.Writer, jobs []job) {
	fmt.Fprintf(w, head, "azure-stages")
	fmt.Fprint(w, "# PULUMI_BACKEND_URL is a variable of the pipeline, PULUMI_CONFIG_PASSPHRASE a secret one.\n"+
		"trigger: [main]\npool: {vmImage: ubuntu-latest}\nstages:\n")
	if len(jobs) == 0 {
		fmt.Fprint(w, "  - stage: nothing\n    jobs:\n      - job: nothing\n        steps:\n"+
			"          - script: echo there is no project\n")
	}
	for _, j := range jobs {
		fmt.Fprintf(w, "  - stage: %s\n    dependsOn: [%s]\n    variables: {DIR: %s, STACK: %s, PLAN: %s}\n    jobs:\n",
			j.name, strings.Join(j.needs, ", "), quoted(j.dir), quoted(j.stack), quoted(j.name+".plan.json"))
		const secret = "            env: {PULUMI_CONFIG_PASSPHRASE: $(PULUMI_CONFIG_PASSPHRASE)}\n"
		fmt.Fprintf(w, "      - job: plan\n        steps:\n          - checkout: self\n          - script: %s\n%s"+
			"          - publish: %s\n            artifact: %s\n", planCommand, secret, quoted(j.name+".plan.json"),
			quoted("plan-"+j.name))
		fmt.Fprintf(w, "      - job: apply\n        dependsOn: [plan]\n        steps:\n          - checkout: self\n"+
			"          - download: current\n            artifact: %s\n"+
			"          - script: cp \"$(Pipeline.Workspace)/plan-%s/$PLAN\" . && %s\n%s",
			quoted("plan-"+j.name), j.name, applyCommand, secret)
	}
}
