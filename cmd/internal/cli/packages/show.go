package packages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	schemacmd "github.com/yamlhost/yamlhost/cmd/internal/cli/schema"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// infoOptions are the arguments and flags of package info.
type infoOptions struct {
	wanted
	module, resource, function string
}

// newInfo returns the command package info.
func newInfo(a *console.Console) *cobra.Command {
	o := &infoOptions{}
	cmd := &cobra.Command{
		Use: "info SOURCE [PARAMETER]...", Short: "Show what a package has", Args: cobra.MinimumNArgs(1),
		Long: "info shows the version, the modules and the number of the resources of a package; with --module what a " +
			"module has, and with --resource or --function its inputs and outputs, as yamlhost schema does. SOURCE is as " +
			"for package add.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source, o.parameters = args[0], args[1:]
			return info(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.module, "module", "m", "", "show this module")
	f.StringVarP(&o.resource, "resource", "r", "", "show this resource")
	f.StringVarP(&o.function, "function", "f", "", "show this function")
	f.StringVar(&o.server, "server", "", "download the plugin from this URL")
	cmd.MarkFlagsMutuallyExclusive("resource", "function")
	return cmd
}

// info shows a package, one of its modules, or a member.
func info(ctx context.Context, a *console.Console, o *infoOptions) error {
	found, err := find(ctx, a, &o.wanted)
	if err != nil {
		return err
	}
	pkg, err := schema.Parse(found.text)
	if err != nil {
		return err
	}
	// The flags exclude each other, so that this is one of the two.
	if member := o.resource + o.function; member != "" {
		// A member is given by its name alone, with its module, or as a whole token.
		token := pkg.Name + ":" + member
		if o.module != "" && !strings.Contains(member, ":") {
			token = pkg.Name + ":" + o.module + ":" + member
		} else if strings.HasPrefix(member, pkg.Name+":") {
			token = member
		}
		record, err := schemacmd.Describe(pkg, token)
		if err != nil {
			return err
		}
		return schemacmd.WriteMember(a.Streams.Out, record)
	}
	w := a.Streams.Out
	modules := map[string][]string{}
	for _, list := range [][]string{pkg.ResourceTokens(), pkg.FunctionTokens()} {
		for _, token := range list {
			short := schema.CollapseToken(token)
			parts := strings.Split(short, ":")
			// A token without a module has the module index.
			module := "index"
			if len(parts) > 2 {
				module = parts[1]
			}
			modules[module] = append(modules[module], short)
		}
	}
	if o.module != "" {
		members := modules[o.module]
		if members == nil {
			return fmt.Errorf("package %s has no module %s", pkg.Name, o.module)
		}
		// A resource and a function may have one name.
		slices.Sort(members)
		_, err := fmt.Fprintln(w, strings.Join(slices.Compact(members), "\n"))
		return err
	}
	_, err = fmt.Fprintf(w, "Name:        %s\nVersion:     %s\nDescription: %s\nResources:   %d\nFunctions:   %d\nModules:     %s\n",
		pkg.Name, found.version, strings.Join(strings.Fields(pkg.Description), " "), len(pkg.ResourceTokens()),
		len(pkg.FunctionTokens()), strings.Join(slices.Sorted(maps.Keys(modules)), ", "))
	return err
}

// find describes a package inside or outside of a project.
func find(ctx context.Context, a *console.Console, w *wanted) (*described, error) {
	ws, err := surroundings(a)
	if err != nil {
		return nil, err
	}
	return describe(ctx, a, ws, w)
}

// newGetSchema returns the command package get-schema.
func newGetSchema(a *console.Console) *cobra.Command {
	o := &wanted{}
	cmd := &cobra.Command{
		Use: "get-schema SOURCE [PARAMETER]...", Short: "Write the schema of a package", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source, o.parameters = args[0], args[1:]
			return getSchema(cmd.Context(), a, o)
		},
	}
	cmd.Flags().StringVar(&o.server, "server", "", "download the plugin from this URL")
	return cmd
}

// getSchema writes a schema to standard output.
func getSchema(ctx context.Context, a *console.Console, o *wanted) error {
	// find may start the plugin, to which the parameters are passed.
	found, err := find(ctx, a, o)
	if err != nil {
		return err
	}
	// The text is the plugin's, not one that was read and written again.
	_, err = a.Streams.Out.Write(append(found.text, '\n'))
	return err
}

// mappingOptions are the arguments and flags of package get-mapping.
type mappingOptions struct {
	key, source, from, out string
}

// newGetMapping returns the command package get-mapping.
func newGetMapping(a *console.Console) *cobra.Command {
	o := &mappingOptions{}
	cmd := &cobra.Command{
		Use: "get-mapping KEY PLUGIN [PROVIDER]", Short: "Write how names of another tool map to those of a package",
		Args: cobra.RangeArgs(2, 3),
		Long: "get-mapping writes the data with which a converter translates names of another tool's provider, such as " +
			"terraform, to those of a package.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.key, o.source = args[0], args[1]; len(args) > 2 {
				o.from = args[2]
			}
			return getMapping(cmd.Context(), a, o)
		},
	}
	cmd.Flags().StringVarP(&o.out, "out", "o", "", "write the mapping to this file")
	return cmd
}

// getMapping writes the mapping that a plugin provides.
func getMapping(ctx context.Context, a *console.Console, o *mappingOptions) error {
	ws, err := surroundings(a)
	if err != nil {
		return err
	}
	providers := operation.NewProviders(a, ws, nil, operation.Trusted)
	defer providers.Close()
	// Missing plugins are downloaded for a project only, whose lock file records them.
	if ws.Project.Path != "" {
		providers.Acquire(a, ws)
	}
	name, version, _ := strings.Cut(o.source, "@")
	from, data, err := providers.Mapping(ctx, provider.Package{Name: name, Version: version}, o.key, o.from)
	if err != nil {
		// It tells a plugin that is not installed from one that cannot answer.
		return explain(err, name, a.World.PulumiHome())
	}
	if len(data) == 0 {
		return errors.New("the plugin " + name + " has no mapping for " + strings.TrimSpace(o.key+" "+o.from))
	}
	// A plugin may have the mappings of several providers, of which it chose this one.
	if from != "" {
		fmt.Fprintf(a.Streams.Err, "%s maps to provider %s\n", name, from)
	}
	if o.out == "" {
		_, err = a.Streams.Out.Write(data)
		return err
	}
	if err := os.WriteFile(a.Path(o.out), data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", o.out, console.PlainError(err))
	}
	return nil
}
