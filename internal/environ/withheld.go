package environ

import (
	"net/url"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// backendURL is the variable that holds the location of the state. Its value may contain a password.
const backendURL = "PULUMI_BACKEND_URL"

// Withheld returns the names of the variables that by themselves grant access to the secrets of every stack or to its
// backend. Child processes inherit them only if they are requested by name. Cloud credentials are not included, because
// providers use them to authenticate.
func Withheld() []string {
	return []string{"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_ACCESS_TOKEN", "PGPASSWORD"}
}

// ForChildren returns the environment for child processes: l without the variables that Withheld names and without the
// password in the backend URL. Variables named in asked are passed on unchanged. ForChildren does not modify l.
func (l List) ForChildren(asked ...string) List {
	withheld := Withheld()
	children := make(List, 0, len(l))
	for _, entry := range l {
		name, text, _ := strings.Cut(entry, "=")
		switch {
		case slices.ContainsFunc(asked, func(a string) bool { return Same(a, name) }):
		case slices.ContainsFunc(withheld, func(w string) bool { return Same(w, name) }):
			continue
		case Same(backendURL, name):
			open, ok := withoutPassword(text)
			if !ok {
				continue
			}
			entry = name + "=" + open
		}
		children = append(children, entry)
	}
	return children
}

// passwordKey matches URL parameters that carry credentials.
var passwordKey = lazyregexp.New(`(?i)pass|secret|token|key|sig$`)

// withoutPassword returns a URL without its passwords; ok is false if the passwords cannot be located.
func withoutPassword(text string) (open string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return text, !strings.ContainsAny(text, "@?")
	}
	changed := false
	if _, has := u.User.Password(); has {
		u.User, changed = url.User(u.User.Username()), true
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false
	}
	for name := range query {
		if passwordKey().MatchString(name) {
			query.Del(name)
			changed = true
		}
	}
	if !changed {
		return text, true
	}
	u.RawQuery = query.Encode()
	return u.String(), true
}
