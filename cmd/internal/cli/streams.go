package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

// operations are the commands of the Pulumi CLI that show an operation. Their output is a view of the engine's events.
// The Pulumi CLI writes it to standard output, and yamlhost, whose standard output is for results, to standard error.
var operations = []string{"preview", "up", "refresh", "destroy", "import", "watch"}

// textCommands are the commands of the Pulumi CLI whose standard output tells a person what they have done. The result
// of every other command is read by programs, too.
var textCommands = []string{
	"cancel", "config copy", "config env add", "config env rm", "config refresh", "config rm",
	"config set", "config set-all", "convert", "env edit", "env init", "env rm", "install", "login", "logout", "new",
	"org set-default", "package add", "package remove", "plugin install", "plugin rm",
	"stack change-secrets-provider", "stack import", "stack init", "stack rename", "stack rm", "stack select",
	"stack tag rm", "stack tag set", "stack unselect", "state delete", "state move", "state protect", "state rename",
	"state repair", "state taint", "state unprotect", "state untaint", "state upgrade",
}

// streamUse returns how a command uses standard output under the name of the Pulumi CLI. A command that writes JSON or
// a report there writes nothing else to it.
func streamUse(cmd *cobra.Command) console.StreamUse {
	use, data := console.StreamData, console.StreamData
	switch path := commandName(cmd); {
	case slices.Contains(operations, path):
		use, data = console.StreamOperation, console.StreamEvents
	case slices.Contains(textCommands, path):
		use = console.StreamText
	}
	// The flags were parsed before; Visit calls the function only for those on the line or from the environment.
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "json":
			if f.Value.String() == "true" {
				use = data
			}
		case "out", "import-file", "event-log":
			texts := []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				texts = list.GetSlice()
			}
			for _, text := range texts {
				// The forms are FILE and KIND=FILE. With "-" as the file, the report goes to standard output.
				if text == "-" || strings.HasSuffix(text, "=-") {
					use = data
				}
			}
		}
	})
	return use
}
