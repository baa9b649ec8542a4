package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/fileurl"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// accountOptions are the arguments and flags of login, logout and whoami. login and logout use url and local, whoami
// the others.
type accountOptions struct {
	url   string
	local bool
	json  bool

	verbose bool // flag of whoami
}

// NewLogin returns the command login.
func NewLogin(a *console.Console) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Choose where state is kept", Args: console.AtMostOne("the URL of a backend"),
		Long: "login selects the backend that later commands use: a folder, as file://~ or file:///some/path, " +
			"an object store, or a service such as Pulumi Cloud, as https://api.pulumi.com. The token for a service comes " +
			"from PULUMI_ACCESS_TOKEN, or is asked for. It is kept where the Pulumi CLI keeps it, too. " +
			storesOfThisBuild(),
		RunE: console.RunWith(a, login, o, &o.url),
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	cmd.Flags().StringVarP(&o.url, "cloud-url", "c", "", "the URL of the backend")
	return cmd
}

// storesOfThisBuild returns a sentence about the object stores that this build can open.
func storesOfThisBuild() string {
	known := console.Stores()
	if len(known) == 0 {
		return "This build is the lean edition, which has no object stores; the default edition has."
	}
	return "This build knows " + strings.Join(known, "://, ") + "://."
}

// NewLogout returns the command logout.
func NewLogout(a *console.Console) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "logout [URL]", Short: "Forget a backend", Args: console.AtMostOne("the URL of a backend"),
		RunE: console.RunWith(a, logout, o, &o.url),
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	return cmd
}

// NewWhoami returns the command whoami.
func NewWhoami(a *console.Console) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show the current user and the backend", Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return whoami(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show the organizations and the backend, too")
	return cmd
}

// login makes a backend the current one after checking that it is usable.
func login(ctx context.Context, a *console.Console, o *accountOptions) error {
	switch {
	// The order of the cases is that of what was typed: a contradiction, a shorthand, nothing.
	case o.local && o.url != "":
		return errors.New("--local and a URL cannot be used together")
	case o.local:
		o.url = console.DefaultBackend
	case o.url == "":
		return errors.New(
			"name the place for the state: yamlhost login file://~, yamlhost login file:///some/path, yamlhost login " +
				"s3://bucket or yamlhost login https://api.pulumi.com")
	}
	// A path without a scheme is a folder, as for the Pulumi CLI.
	if !strings.Contains(o.url, "://") {
		o.url = urlOf(o.url)
	}
	// It is opened before it is chosen, as all later commands would fail with one that cannot be opened.
	if _, err := a.Backends().OpenAt(o.url, a.World.Dir); err != nil {
		return err
	}
	// A service has a user and a token, which a store has not.
	if backend.IsService(o.url) {
		return loginService(ctx, a, strings.TrimRight(o.url, "/"))
	}
	if err := backend.Login(a.World.CredentialsHome(), o.url, nil); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "Logged in to %s\n", backend.PublicURL(o.url))
	return nil
}

// urlOf returns the URL of a folder from its path, which parameters such as ?create_dir=true may follow.
func urlOf(text string) string {
	path, parameters, found := strings.Cut(text, "?")
	// A question mark may also be a character of the folder's name.
	if found && strings.Contains(parameters, "=") {
		return fileurl.Folder(path) + "?" + parameters
	}
	return fileurl.Folder(text)
}

// loginService makes a service the current backend after checking that it accepts a token: the one in the environment,
// the one from an earlier login, or one that a person enters.
func loginService(ctx context.Context, a *console.Console, url string) error {
	// The variable comes first, so that a machine of CI never asks.
	token := a.World.Getenv(console.AccessToken)
	if token == "" {
		kept, err := backend.Token(a.World.CredentialsHome(), url)
		if err != nil {
			return err
		}
		// A kept token may have been revoked, so it is tried before a person is asked.
		if _, err := a.Backends().SignIn(ctx, url, kept); kept != "" && err == nil {
			token = kept
		} else if token, err = a.Prompt().Token(url); err != nil {
			return err
		}
	}
	// The token is written only after the service has accepted it.
	user, err := a.Backends().SignIn(ctx, url, token)
	if err != nil {
		return err
	}
	account := &backend.Account{Token: token, User: user, At: a.Now().UTC()}
	if err := backend.Login(a.World.CredentialsHome(), url, account); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "Logged in to %s as %s\n", url, user.Name)
	return nil
}

// logout removes a backend from the credentials file.
func logout(_ context.Context, a *console.Console, o *accountOptions) error {
	if o.local {
		o.url = console.DefaultBackend
	}
	// login stores the URL without the last slash.
	if backend.IsService(o.url) {
		o.url = strings.TrimRight(o.url, "/")
	}
	known, err := backend.Logout(a.World.CredentialsHome(), o.url)
	if err != nil {
		return err
	}
	// Being logged out already is no error: scripts log out whatever the state is.
	if !known {
		fmt.Fprintln(a.Streams.Err, "Already logged out.")
		return nil
	}
	fmt.Fprintln(a.Streams.Err, "Logged out.")
	return nil
}

// whoami shows the user who is signed in to the backend.
func whoami(ctx context.Context, a *console.Console, o *accountOptions) error {
	b, err := a.Backends().Here()
	if err != nil {
		return err
	}
	user := backend.User{}
	// A store knows no users, so the one of the operating system stands for them, who is also the one in locks.
	if s := b.Service(); s != nil {
		if user, err = s.User(ctx); err != nil {
			return err
		}
	} else if a.World.Process != nil {
		user.Name = a.World.Process().User
	}
	if o.json {
		return a.WriteJSON(identity{b.PublicURL(), user.Name, user.Organizations})
	}
	text := user.Name + "\n"
	if o.verbose {
		text = fmt.Sprintf("User: %s\nOrganizations: %s\nBackend URL: %s\n", user.Name, strings.Join(user.Organizations, ", "),
			b.PublicURL())
	}
	_, err = fmt.Fprint(a.Streams.Out, text)
	return err
}

// NewOrg returns the command org.
func NewOrg(a *console.Console) *cobra.Command {
	return console.Group("org", "Show and choose the organization of stacks in a service", &cobra.Command{
		Use: "get-default", Short: "Show the organization of stacks whose names have none", Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, _, err := serviceInUse(a)
			if err != nil {
				return err
			}
			organization, err := s.Organization(cmd.Context())
			if err == nil {
				_, err = fmt.Fprintln(a.Streams.Out, organization)
			}
			return err
		},
	}, &cobra.Command{
		Use: "set-default ORGANIZATION", Short: "Choose the organization of stacks whose names have none",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, url, err := serviceInUse(a)
			if err != nil {
				return err
			}
			user, err := s.User(cmd.Context())
			if err != nil {
				return err
			}
			// The choice is stored locally. Without this check a misspelt name would fail much later, as a stack that
			// cannot be found.
			if args[0] != user.Name && !slices.Contains(user.Organizations, args[0]) {
				return fmt.Errorf("%s is in no organization %q; there are: %s", user.Name, args[0],
					strings.Join(user.Organizations, ", "))
			}
			return backend.SetDefaultOrganization(a.World.PulumiHome(), url, args[0])
		},
	})
}

// serviceInUse returns the service that is the current backend, and its URL.
func serviceInUse(a *console.Console) (backend.Service, string, error) {
	b, err := a.Backends().Here()
	if err != nil {
		return nil, "", err
	}
	if b.Service() == nil {
		return nil, "", fmt.Errorf("the backend %s has no organizations; only services have", b.PublicURL())
	}
	return b.Service(), b.URL(), nil
}

// identity is the user as the backend knows them.
type identity struct {
	URL  string `json:"url"` // without credentials
	User string `json:"user"`
	// Organizations are the user's organizations in a service.
	Organizations []string `json:"organizations,omitempty"`
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[identity]("identity", "the current user and the backend", "`whoami --json`"),
}
