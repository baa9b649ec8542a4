package report

import (
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[diag.Document]("findings", "what the checker found", "`check --format json`, `--out json`"),
	contract.Of[digestJSON]("operation", "a plan, or what an operation has done",
		"`preview --json`, `run --plan-only --json`, `drift --json`, `--out json`"),
	contract.Of[envelope]("event", "an event of an operation", "`up --json` and the like, `--event-log`, `--out events`").
		EachLine(),
	contract.Of[partsJSON]("operations", "what a command about many stacks has done",
		"`preview --json` and `--out json` of commands about many stacks"),
}
