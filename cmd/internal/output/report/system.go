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

// Root is the folder of the repository that a system has checked out; empty where it does not say.
func (s System) Root(getenv func(string) string) string {
	switch s {
	case GitHub:
		return getenv("GITHUB_WORKSPACE")
	case GitLab:
		return getenv("CI_PROJECT_DIR")
	case Azure:
		return getenv("BUILD_SOURCESDIRECTORY")
	case Buildkite:
		return getenv("BUILDKITE_BUILD_CHECKOUT_PATH")
	}
	return ""
}
