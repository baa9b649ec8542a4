package operation

import (
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// importDocument is an import file (F7.13).
type importDocument struct {
	NameTable map[string]urn.URN `json:"nameTable,omitempty"` // resources of the stack that entries name
	Resources []SavedImport      `json:"resources,omitempty"`
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[planFile]("plan", "a plan that a later operation must follow", "`preview --save-plan`"),
	contract.Of[ShownPlan]("plan-shown", "a plan to read, without secrets", "`plan show --format json`"),
	contract.Of[importDocument]("import", "what to import", "`preview --import-file`, `import --query … --import-file`"),
}
