package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

type accountOptions struct {
	url   string
	local bool
	json  bool
}

// NewLogin makes the command login.
func NewLogin(_ *console.Console, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Choose where state is kept", Args: console.AtMostOne("the URL of a backend"),
		Long: "login selects the backend that later commands use: a folder, as file://~ or file:///some/path, or " +
			"an object store. " +
			storesOfThisBuild(),
		RunE: console.RunWith(run, o, &o.url),
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	cmd.Flags().StringVarP(&o.url, "cloud-url", "c", "", "the URL of the backend")
	return cmd
}

// storesOfThisBuild says which stores there are.
func storesOfThisBuild() string {
	known := console.Stores()
	if len(known) == 0 {
		return "This build has no object stores; docs/state.md says how to get a build that has."
	}
	return "This build knows " + strings.Join(known, "://, ") + "://."
}

// NewLogout makes the command logout.
func NewLogout(_ *console.Console, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "logout [URL]", Short: "Forget a backend", Args: console.AtMostOne("the URL of a backend"),
		RunE: console.RunWith(run, o, &o.url),
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	return cmd
}

// NewWhoami makes the command whoami.
func NewWhoami(_ *console.Console, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show the current user and the backend", Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// Login makes a backend the current one, once it has proved to be usable.
func Login(_ context.Context, a *console.Console, o *accountOptions) error {
	switch {
	case o.local && o.url != "":
		return errors.New("--local and a URL cannot be used together")
	case o.local:
		o.url = console.DefaultBackend
	case o.url == "":
		return errors.New(
			"name the place for the state: yamlhost login file://~, yamlhost login file:///some/path or yamlhost login " +
				"s3://bucket")
	}
	if !strings.Contains(o.url, "://") {
		o.url = "file://" + o.url
	}
	if _, err := a.Backends().OpenAt(o.url, a.World.Dir); err != nil {
		return err
	}
	if err := backend.Login(a.World.CredentialsHome(), o.url); err != nil {
		return err
	}
	fmt.Fprintf(a.Streams.Err, "Logged in to %s\n", backend.PublicURL(o.url))
	return nil
}

// Logout forgets a backend.
func Logout(_ context.Context, a *console.Console, o *accountOptions) error {
	if o.local {
		o.url = console.DefaultBackend
	}
	known, err := backend.Logout(a.World.CredentialsHome(), o.url)
	if err != nil {
		return err
	}
	if !known {
		fmt.Fprintln(a.Streams.Err, "Already logged out.")
		return nil
	}
	fmt.Fprintln(a.Streams.Err, "Logged out.")
	return nil
}

// Whoami shows who is signed in to the backend.
func Whoami(_ context.Context, a *console.Console, o *accountOptions) error {
	p, _, err := a.OpenProject(a.World.Dir)
	if err != nil {
		p = nil // the backend need not be a project's
	}
	b, err := a.Backends().Open(p)
	if err != nil {
		return err
	}
	user := ""
	if a.World.Process != nil {
		user = a.World.Process().User
	}
	if o.json {
		return a.WriteJSON(identity{b.PublicURL(), user})
	}
	_, err = fmt.Fprintln(a.Streams.Out, user)
	return err
}

// identity is the user as a backend knows them.
type identity struct {
	URL  string `json:"url"` // without what signs in
	User string `json:"user"`
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[identity]("identity", "the current user and the backend", "`whoami --json`"),
}
