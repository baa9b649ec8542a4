package cli

import (
	"slices"

	aboutcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/about"
	accountcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/account"
	configcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/config"
	convertcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/convert"
	doctorcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/doctor"
	explaincmd "github.com/yamlhost/yamlhost/cmd/internal/cli/explain"
	functionscmd "github.com/yamlhost/yamlhost/cmd/internal/cli/functions"
	graphcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/graph"
	migratecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/migrate"
	plugincmd "github.com/yamlhost/yamlhost/cmd/internal/cli/plugin"
	queuecmd "github.com/yamlhost/yamlhost/cmd/internal/cli/queue"
	schemacmd "github.com/yamlhost/yamlhost/cmd/internal/cli/schema"
	stackcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/stack"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// Contracts returns all JSON forms that the program writes for other programs. Pulumi's own forms, such as exported
// states, have their schemas elsewhere.
func Contracts() []contract.Contract {
	own := []contract.Contract{
		contract.Of[versionRecord]("version", "which program this is", "`version --json`"),
	}
	return slices.Concat(report.Contracts, operation.Contracts, graphcmd.Contracts, explaincmd.Contracts,
		functionscmd.Contracts, schemacmd.Contracts, stackcmd.Contracts, configcmd.Contracts, plugincmd.Contracts,
		migratecmd.Contracts, convertcmd.Contracts,
		doctorcmd.Contracts, aboutcmd.Contracts, accountcmd.Contracts, queuecmd.Contracts, own)
}
