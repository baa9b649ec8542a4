package environ

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// backendURL is the variable that says where state lives. It may carry a password.
const backendURL = "PULUMI_BACKEND_URL"

// Withheld are the variables that open the secrets of every stack, or its backend, by themselves. No child process
// inherits them unless somebody asks for them by name. Cloud credentials are not among them, since providers sign in
// with those.
func Withheld() []string {
	return []string{"PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE", "PULUMI_ACCESS_TOKEN", "PGPASSWORD"}
}

// ForChildren returns the environment of child processes: l without the variables that Withheld names, and without
// the password in the URL of the backend. The variables in asked are passed on unchanged. l itself does not change.
func (l List) ForChildren(asked ...string) List {
	withheld := Withheld()
	children := make(List, 0, len(l))
	for _, entry := range l {
		name, text, _ := strings.Cut(entry, "=")
		switch {
		case slices.ContainsFunc(asked, func(a string) bool { return same(a, name) }):
		case slices.ContainsFunc(withheld, func(w string) bool { return same(w, name) }):
			continue
		case same(backendURL, name):
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

// passwordKey finds parameters of a URL that carry what signs in.
var passwordKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass|secret|token|key|sig$`)
})

// withoutPassword is a URL without its passwords; ok is false if nobody can tell where they are.
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
