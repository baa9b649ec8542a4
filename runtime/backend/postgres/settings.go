//go:build !lean

package postgres

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgservicefile"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

const (
	defaultTable = "pulumi_state"
	ownSuffix    = "_yamlhost" // ends the name of yamlhost's own table
	longestName  = 63          // bytes that the server keeps of a name
)

// target is a parsed URL: the database, the table, and the common prefix of all keys.
type target struct {
	settings map[string]string // by libpq's keywords
	table    string
	prefix   string // empty, or ends in a slash
	name     string // the backend's URL for messages, without secrets
}

// variables maps libpq's environment variables to its keywords.
var variables = map[string]string{
	"PGHOST": "host", "PGPORT": "port", "PGDATABASE": "dbname", "PGUSER": "user", "PGPASSWORD": "password",
	"PGPASSFILE": "passfile",
	"PGAPPNAME":  "application_name", "PGCONNECT_TIMEOUT": "connect_timeout", "PGSSLMODE": "sslmode", "PGSSLKEY": "sslkey",
	"PGSSLCERT": "sslcert", "PGSSLCERTMODE": "sslcertmode", "PGSSLSNI": "sslsni", "PGSSLROOTCERT": "sslrootcert",
	"PGSSLNEGOTIATION": "sslnegotiation", "PGTARGETSESSIONATTRS": "target_session_attrs", "PGSERVICE": "service",
	"PGSERVICEFILE": "servicefile", "PGTZ": "timezone", "PGOPTIONS": "options",
	"PGMINPROTOCOLVERSION": "min_protocol_version",
	"PGMAXPROTOCOLVERSION": "max_protocol_version", "PGCHANNELBINDING": "channel_binding", "PGREQUIREAUTH": "require_auth",
	"PGSSLPASSWORD": "sslpassword",
}

// plainName matches the table names that the Pulumi CLI can use: it writes them into its statements without quotes.
var plainName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_$]*$`)

// parse reads a URL. Settings that the URL lacks come from the service that it or a variable names, then from libpq's
// variables.
func parse(rawURL string, lookup Lookup) (*target, error) {
	name := backend.PublicURL(rawURL)
	u, err := url.Parse(rawURL)
	if err != nil { // the error would repeat the password
		return nil, fmt.Errorf(
			"the backend %s is malformed: it should look like postgres://user@host:5432/database?table=%s; "+
				"special characters in a password are written with percent signs", name, defaultTable)
	}
	if u.Scheme != Scheme {
		return nil, &backend.UnsupportedURLError{URL: rawURL, Way: "begin it with postgres://, as the Pulumi CLI requires"}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the parameters of the backend %s are malformed", name)
	}
	t := &target{table: defaultTable, name: name}
	if table := query.Get("table"); table != "" {
		t.table = strings.ToLower(table) // as the server does with a name that is not quoted
	}
	switch {
	case !plainName().MatchString(t.table):
		return nil, fmt.Errorf("the backend %s names the table %q; a name consists of letters, digits and underscores. "+
			"A schema is chosen with search_path=…", name, t.table)
	case len(t.table)+len(ownSuffix) > longestName:
		return nil, fmt.Errorf(
			"the backend %s names a table with %d characters; %d are possible, because a second table has the "+
				"same name with the ending %s", name, len(t.table), longestName-len(ownSuffix), ownSuffix)
	}
	if t.prefix = strings.TrimLeft(u.Path, "/"); t.prefix != "" && !strings.HasSuffix(t.prefix, "/") {
		t.prefix += "/"
	}
	own := settingsOf(u, query)
	environment := fromVariables(lookup)
	service, err := fromService(own, environment)
	if err != nil {
		return nil, fmt.Errorf("open the backend %s: %w", name, err)
	}
	t.settings = map[string]string{"port": "5432", "password": "", "application_name": "yamlhost",
		"target_session_attrs": "primary"}
	for _, source := range []map[string]string{environment, service, own} {
		maps.Copy(t.settings, source)
	}
	if _, ok := t.settings["sslmode"]; !ok {
		t.settings["sslmode"] = "require" // as for the Pulumi CLI; the library ignores it for a socket of this machine
	}
	return t, nil
}

// settingsOf returns the settings in the URL itself.
func settingsOf(u *url.URL, query url.Values) map[string]string {
	own := map[string]string{}
	if u.User != nil {
		own["user"] = u.User.Username()
		if password, ok := u.User.Password(); ok {
			own["password"] = password
		}
	}
	for key, value := range map[string]string{"host": u.Hostname(), "port": u.Port(),
		"dbname": strings.TrimPrefix(u.Path, "/")} {
		if value != "" {
			own[key] = value
		}
	}
	for key, values := range query {
		if key != "table" && len(values) > 0 {
			own[canonical(key)] = values[len(values)-1]
		}
	}
	return own
}

func canonical(key string) string {
	if key == "database" {
		return "dbname"
	}
	return key
}

// fromVariables returns the settings in libpq's variables, with the default paths of its files in the home folder.
func fromVariables(lookup Lookup) map[string]string {
	found := map[string]string{}
	if lookup == nil {
		return found
	}
	for _, name := range [...]string{"HOME", "USERPROFILE"} {
		if home, _ := lookup(name); home != "" {
			found["passfile"], found["servicefile"] = filepath.Join(home, ".pgpass"), filepath.Join(home, ".pg_service.conf")
			break
		}
	}
	for variable, key := range variables {
		if value, _ := lookup(variable); value != "" {
			found[key] = value
		}
	}
	return found
}

// fromService returns the settings of the service that the URL or a variable names; nil if neither does. It removes the
// name and the file of the service from own and environment.
func fromService(own, environment map[string]string) (map[string]string, error) {
	either := func(key string) string {
		value, ok := own[key]
		if !ok {
			value = environment[key]
		}
		delete(own, key)
		delete(environment, key)
		return value
	}
	name, path := either("service"), either("servicefile")
	if name == "" {
		return nil, nil
	}
	if path == "" {
		return nil, fmt.Errorf("the file with the service %q is not known; name it in PGSERVICEFILE", name)
	}
	file, err := pgservicefile.ReadServicefile(path)
	if err != nil {
		return nil, fmt.Errorf("read the services in %s: %w", path, err)
	}
	service, err := file.GetService(name)
	if err != nil {
		return nil, fmt.Errorf("%s describes no service %q", path, name)
	}
	settings := map[string]string{}
	for key, value := range service.Settings {
		settings[canonical(key)] = value
	}
	return settings, nil
}

// text returns the settings as a connection string of keywords and values, which leaves the library none to look up.
func (t *target) text() (string, error) {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(t.settings)) {
		if strings.ContainsAny(key, " ='\\\x00") || strings.Contains(t.settings[key], "\x00") {
			return "", errors.New("a parameter contains a character that is not allowed")
		}
		fmt.Fprintf(&b, "%s='%s' ", key, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(t.settings[key]))
	}
	return b.String(), nil
}
