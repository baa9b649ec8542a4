package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/httpget"
)

// Source is a place from which plugins can be downloaded.
type Source struct {
	// Server is a URL in the form of Installation.Server.
	Server string
	// latest is the URL of a page that redirects to the newest version; empty if there is none.
	latest string
}

// releases returns the source for the releases of a repository on GitHub.
func releases(owner, repository string) Source {
	page := "https://github.com/" + owner + "/" + repository + "/releases"
	return Source{Server: page + "/download/v${VERSION}", latest: page + "/latest"}
}

// Sources returns the sources of a plugin, best first. from is its pluginDownloadURL, which may be empty (F2.32).
// overrides is the text of PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES (F2.35).
func Sources(name, from, overrides string) ([]Source, error) {
	if !pluginName().MatchString(name) {
		rule := "it has letters, digits, -, _ and . only, and ends with a letter or a digit"
		if len(name) < 2 {
			rule = "it has two characters at least, as for the Pulumi CLI"
		}
		return nil, fmt.Errorf("%q cannot be the name of a plugin: %s", name, rule) // nor is a path ever made an address
	}
	other, err := override(cmp.Or(from, "github://api.github.com/pulumi/pulumi-"+name), overrides)
	if err != nil {
		return nil, err
	}
	if from = cmp.Or(other, from); from == "" {
		return []Source{releases("pulumi", "pulumi-"+name), {Server: DefaultServer}}, nil
	}
	u, err := url.Parse(strings.NewReplacer("${", "$%7B", "}", "%7D").Replace(from))
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL to download a plugin from", from)
	}
	switch u.Scheme {
	case "http", "https", "git":
		return []Source{{Server: from}}, nil
	case "github":
		owner, repository, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
		if u.Host != "api.github.com" || owner == "" || strings.Contains(repository, "/") {
			return nil, fmt.Errorf("plugins are downloaded from github://api.github.com/OWNER[/REPOSITORY], not from %s", from)
		}
		return []Source{releases(owner, cmp.Or(repository, "pulumi-"+name))}, nil
	}
	return nil, fmt.Errorf(
		"plugins can be downloaded from a URL that begins with http://, https://, github:// or git://, not from %q", from)
}

// override applies the first matching entry of regex=URL,… to a source; it returns an empty text if none matches.
func override(canonical, overrides string) (string, error) {
	for rule := range strings.SplitSeq(overrides, ",") {
		if rule == "" {
			continue
		}
		pattern, dst, found := strings.Cut(rule, "=")
		expression, err := regexp.Compile(pattern)
		if !found || err != nil {
			return "", fmt.Errorf("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: %q is not of the form regular-expression=URL", rule)
		}
		loc := expression.FindStringSubmatchIndex(canonical)
		if loc == nil {
			continue
		}
		// Keep the placeholders for the plugin, which are not references to parts of the match.
		keep := strings.NewReplacer("${NAME}", "$${NAME}", "${VERSION}", "$${VERSION}", "${OS}", "$${OS}", "${ARCH}",
			"$${ARCH}")
		return string(expression.ExpandString(nil, keep.Replace(dst), canonical, loc)), nil
	}
	return "", nil
}

// ErrNoLatest is returned when a source does not report its newest version.
var ErrNoLatest = errors.New("the newest version cannot be looked up there")

// Latest asks a source for its newest version, without a v. client may be nil.
func (s Source) Latest(ctx context.Context, client *http.Client) (string, error) {
	if s.latest == "" {
		return "", ErrNoLatest
	}
	asking := http.Client{}
	if client != nil {
		asking = *client
	}
	asking.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, s.latest, nil)
	if err != nil {
		return "", err
	}
	response, err := asking.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask %s for the newest version: %w", s.latest, httpget.Plain(err))
	}
	_ = response.Body.Close() // there is no body to close properly
	version := strings.TrimPrefix(path.Base(response.Header.Get("Location")), "v")
	if _, err := semver.NewVersion(version); err != nil || response.StatusCode/100 != 3 {
		return "", fmt.Errorf("ask %s for the newest version: %w (the server answered %s)", s.latest, ErrNoLatest,
			response.Status)
	}
	return version, nil
}
