package langhost

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/langhost/policy"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/workspace"
)

// runPack serves a policy pack written in YAML, in this process. The pack is opened at its first use, so its faults are
// errors of the calls that use it.
func (h *Host) runPack(ctx context.Context, r *pulumirpc.RunPluginRequest,
	stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	dir := r.GetInfo().GetProgramDirectory()
	schemas, closeSchemas, err := h.schemas(r.GetLoaderTarget())
	if err != nil {
		return err
	}
	defer closeSchemas()
	pack := policy.NewLazy(func() (*policy.Pack, error) {
		opened, found, err := policy.Open(ctx, dir, policy.Options{Shown: workspace.Relative(dir),
			Limits: h.options.Limits, Schemas: loading(schemas)})
		if err != nil {
			return nil, err
		}
		if err := errorOf(found); err != nil {
			return nil, err
		}
		if name := opened.Destroys(); name != "" {
			return nil, fmt.Errorf("the policy %s is about what an operation destroys, which the Pulumi CLI asks no pack "+
				"about: run the pack with yamlhost, or give the policy the level disabled", name)
		}
		h.engine.report(ctx, found)
		return opened, nil
	})
	address, stop, err := plugin.ServeAnalyzer(pack)
	if err != nil {
		return err
	}
	defer stop()
	return announce(ctx, address, stream)
}
