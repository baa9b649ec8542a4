// Command conformance is every provider of the public language conformance suite in one executable: the name under
// which it is started chooses which, so it is copied or linked once for each as pulumi-resource-<name>. With the
// argument "list" it prints the names.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/pkg/v3/resource/plugin"
	"github.com/pulumi/pulumi/pkg/v3/testing/pulumi-test-language/providers"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
)

// all lists the suite's providers in their default form.
var all = []plugin.Provider{
	&providers.AlphaProvider{},
	&providers.AnyHandledProvider{},
	&providers.AnyTypeFunctionProvider{},
	&providers.AssetArchiveProvider{},
	&providers.BadProvider{},
	&providers.BuiltinInfoComponentProvider{},
	&providers.ByteSinkProvider{},
	&providers.ByteSourceProvider{},
	&providers.CallProvider{},
	&providers.CamelNamesProvider{},
	&providers.ComponentPropertyDepsProvider{},
	&providers.ComponentProvider{},
	&providers.ConfigEnumProvider{},
	&providers.ConfigGrpcProvider{},
	&providers.ConfigProvider{},
	&providers.ConfigurerProvider{},
	&providers.ConformanceComponentProvider{},
	&providers.ConstProvider{},
	&providers.DiscriminatedUnionManyProvider{},
	&providers.DiscriminatedUnionProvider{},
	&providers.DocsProvider{},
	&providers.EnumProvider{},
	&providers.ExtensionParameterizedProvider{},
	&providers.ExternalEnumRefProvider{},
	&providers.FailOnCreateProvider{},
	&providers.FlakyCreateProvider{},
	&providers.IndexModProvider{},
	&providers.KebabNamesProvider{},
	&providers.KeywordsProvider{},
	&providers.LargeProvider{},
	&providers.ModuleFormatProvider{},
	&providers.MultiArgumentInvokeProvider{},
	&providers.NamesProvider{},
	&providers.NamespacedProvider{},
	&providers.NestedCollectionsProvider{},
	&providers.NestedObjectProvider{},
	&providers.OptionalPrimitiveProvider{},
	&providers.OptionalPrimitiveRefProvider{},
	&providers.OutputOnlyInvokeProvider{},
	&providers.OutputProvider{},
	&providers.ParameterizedProvider{},
	&providers.PlainComponentProvider{},
	&providers.PlainProvider{},
	&providers.PrimitiveDefaultsProvider{},
	&providers.PrimitiveProvider{},
	&providers.PrimitiveRefProvider{},
	&providers.ReadProvider{},
	&providers.RefRefProvider{},
	&providers.ReplaceOnChangesProvider{},
	&providers.ReservedNamesProvider{},
	&providers.ScalarReturnsProvider{},
	&providers.SecretProvider{},
	&providers.SimpleInvokeProvider{},
	&providers.SimpleInvokeWithScalarReturnProvider{},
	&providers.SimpleProvider{},
	&providers.SnakeNamesProvider{},
	&providers.SyncProvider{CreateLimit: together(atOnce)},
	&providers.UnionProvider{},
}

// atOnce is the number of concurrent requests that the provider sync waits for before it answers.
const atOnce = 3

func together(n int) *sync.WaitGroup {
	var group sync.WaitGroup
	group.Add(n)
	return &group
}

// name asks a provider's schema for the package it serves; empty for one that has none by itself.
func name(p plugin.Provider) string {
	response, err := p.GetSchema(context.Background(), plugin.GetSchemaRequest{})
	if err != nil {
		return ""
	}
	var schema struct{ Name string }
	if err := json.Unmarshal(response.Schema, &schema); err != nil {
		return ""
	}
	return schema.Name
}

// serve returns the server of a provider; some providers have one of their own. The ready-made server loses the details
// of a create that failed half-way, which plugins made with Pulumi's libraries keep.
func serve(p plugin.Provider) pulumirpc.ResourceProviderServer {
	if custom, ok := p.(providers.ProviderWithCustomServer); ok {
		return custom.NewProviderServer()
	}
	watched := &halfWay{Provider: p}
	return &halfWayServer{plugin.NewProviderServer(watched), watched}
}

// halfWay keeps the responses of creates that failed only half-way.
type halfWay struct {
	plugin.Provider
	answers sync.Map // by URN
}

func (w *halfWay) Create(ctx context.Context, r plugin.CreateRequest) (plugin.CreateResponse, error) {
	answer, err := w.Provider.Create(ctx, r)
	var half *plugin.InitError
	if errors.As(err, &half) {
		w.answers.Store(string(r.URN), &pulumirpc.ErrorResourceInitFailed{Id: string(answer.ID), Reasons: half.Reasons})
	}
	return answer, err
}

type halfWayServer struct {
	pulumirpc.ResourceProviderServer
	watched *halfWay
}

func (s *halfWayServer) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	answer, err := s.ResourceProviderServer.Create(ctx, r)
	if err != nil {
		if detail, ok := s.watched.answers.LoadAndDelete(r.GetUrn()); ok {
			return nil, rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()),
				detail.(*pulumirpc.ErrorResourceInitFailed))
		}
	}
	return answer, err
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "list" {
		for _, p := range all {
			if n := name(p); n != "" {
				fmt.Println(n)
			}
		}
		return
	}
	wanted := strings.TrimPrefix(filepath.Base(os.Args[0]), "pulumi-resource-")
	for _, p := range all {
		if name(p) != wanted {
			continue
		}
		err := provider.Main(wanted, func(*provider.HostClient) (pulumirpc.ResourceProviderServer, error) {
			return serve(p), nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fmt.Fprintf(os.Stderr, "no provider of the conformance suite is called %q; run %s list\n", wanted, os.Args[0])
	os.Exit(1)
}
