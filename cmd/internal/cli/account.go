package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/bucket"
)

type accountOptions struct {
	url   string
	local bool
	json  bool
}

func newLogin(_ *app, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "login [URL]", Short: "Choose where state is kept", Args: atMostOne("the URL of a backend"),
		Long: "login makes a backend the current one: a folder, as file://~ or file:///some/path, or a store of objects. " + storesOfThisBuild(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.url = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	cmd.Flags().StringVarP(&o.url, "cloud-url", "c", "", "the URL of the backend")
	return cmd
}

// storesOfThisBuild says which stores there are.
func storesOfThisBuild() string {
	known := bucket.Known()
	if len(known) == 0 {
		return "This build has no stores; docs/state.md says how to get one that has."
	}
	return "This build knows " + strings.Join(known, "://, ") + "://."
}

func newLogout(_ *app, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "logout [URL]", Short: "Forget a backend", Args: atMostOne("the URL of a backend"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.url = args[0]
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.local, "local", "l", false, "the same as file://~")
	return cmd
}

func newWhoami(_ *app, run func(context.Context, *accountOptions) error) *cobra.Command {
	o := &accountOptions{}
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show who acts on which backend", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// login makes a backend the current one, once it has proved to be usable.
func (a *app) login(_ context.Context, o *accountOptions) error {
	switch {
	case o.local && o.url != "":
		return errors.New("--local and a URL exclude each other")
	case o.local:
		o.url = defaultBackend
	case o.url == "":
		return errors.New("say where state is to be kept: yamlhost login file://~, yamlhost login file:///some/path or yamlhost login s3://bucket")
	}
	if !strings.Contains(o.url, "://") {
		o.url = "file://" + o.url
	}
	if _, err := a.openBackendAt(o.url, a.world.Dir); err != nil {
		return err
	}
	if err := backend.Login(a.credentialsHome(), o.url); err != nil {
		return err
	}
	fmt.Fprintf(a.streams.Err, "Logged in to %s\n", o.url)
	return nil
}

func (a *app) logout(_ context.Context, o *accountOptions) error {
	if o.local {
		o.url = defaultBackend
	}
	known, err := backend.Logout(a.credentialsHome(), o.url)
	if err != nil {
		return err
	}
	if !known {
		fmt.Fprintln(a.streams.Err, "Already logged out.")
		return nil
	}
	fmt.Fprintln(a.streams.Err, "Logged out.")
	return nil
}

func (a *app) whoami(_ context.Context, o *accountOptions) error {
	p, _, err := a.openProject(a.world.Dir)
	if err != nil {
		p = nil // the backend need not be a project's
	}
	b, err := a.openBackend(p)
	if err != nil {
		return err
	}
	user := ""
	if a.world.Process != nil {
		user = a.world.Process().User
	}
	if o.json {
		return a.writeJSON(map[string]string{"user": user, "url": b.URL()})
	}
	_, err = fmt.Fprintln(a.streams.Out, user)
	return err
}
