package engine

import "github.com/yamlhost/yamlhost/runtime/engine/internal/plan"

// Step is one planned action on one resource; Op is what it does (E8.1), and Left why it does nothing.
type (
	Step = plan.Step
	Op   = plan.Op
	Left = plan.Left
)

// UnknownID is the placeholder ID of a provider that exists only in a preview (E1.11).
const UnknownID = plan.UnknownID

// The operations.
const (
	OpSame                 = plan.OpSame
	OpCreate               = plan.OpCreate
	OpUpdate               = plan.OpUpdate
	OpDelete               = plan.OpDelete
	OpReplace              = plan.OpReplace
	OpCreateReplacement    = plan.OpCreateReplacement
	OpDeleteReplaced       = plan.OpDeleteReplaced
	OpRead                 = plan.OpRead
	OpReadReplacement      = plan.OpReadReplacement
	OpRefresh              = plan.OpRefresh
	OpDiscard              = plan.OpDiscard
	OpDiscardReplaced      = plan.OpDiscardReplaced
	OpRemovePendingReplace = plan.OpRemovePendingReplace
	OpImport               = plan.OpImport
	OpImportReplacement    = plan.OpImportReplacement
)
