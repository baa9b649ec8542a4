package engine

import (
	"github.com/yamlhost/yamlhost/runtime/engine/internal/apply"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/slots"
)

// core is what all parts of an operation work with. Each part embeds it and adds what it alone needs. Its fields are
// set before the operation begins and each is safe for concurrent use; opts is only read while a program runs.
type core struct {
	*lifetime
	opts       *Options
	mode       mode
	report     *reporter
	failures   *failures
	table      *resources.Table
	slots      *slots.Pool
	journal    *apply.Writer
	registry   *providers.Registry
	executor   *apply.Executor
	constraint *planConstraint
}
