package report

// System is a CI system. The empty one is none.
type System string

// The systems that get something of their own.
const (
	GitHub    System = "github"
	GitLab    System = "gitlab"
	Azure     System = "azure"
	Buildkite System = "buildkite"
	TeamCity  System = "teamcity"
)

// Systems are the values of --ci besides auto and none.
var Systems = []System{GitHub, GitLab, Azure, Buildkite, TeamCity}

// SystemOf finds the system that a process runs under by the variables that it sets.
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

// variables are the variables in which a CI system tells of a build. A name is empty where there is none.
type variables struct {
	system                              string // its name in histories
	id, number, kind, url, commit, root string
	branch                              []string // the first one that is set counts
}

// jenkins gets nothing of its own but its variables.
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

// Root is the folder of the repository that a system has checked out; empty where it does not say.
func (s System) Root(getenv func(string) string) string { return getenv(variablesOf[s].root) }
