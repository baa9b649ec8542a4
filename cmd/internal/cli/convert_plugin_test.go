package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/yamlhost/yamlhost/internal/transport"
)

// testConverter converts programs and states of the tool zoo, which are lists of pets.
type testConverter struct {
	pulumirpc.UnimplementedConverterServer
}

// playConverter serves a testConverter until the process is killed.
func playConverter() {
	address, _, err := transport.Serve("the converter", func(s *grpc.Server) {
		pulumirpc.RegisterConverterServer(s, &testConverter{})
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(address[strings.LastIndex(address, ":")+1:])
	select {}
}

// ConvertProgram writes a resource for each word of zoo.txt. NAME@FOLDER is a module of one pet in that folder, "shelf"
// needs a package of another plugin, "bug" is an error, and "crash" ends the process. As converters do, it requests the
// schema of a package and a mapping.
func (c *testConverter) ConvertProgram(ctx context.Context, r *pulumirpc.ConvertProgramRequest) (
	*pulumirpc.ConvertProgramResponse, error) {
	text, err := os.ReadFile(filepath.Join(r.GetSourceDirectory(), "zoo.txt"))
	if err != nil {
		return nil, err
	}
	if err := ask(ctx, r.GetLoaderTarget(), r.GetMapperTarget()); err != nil {
		return nil, err
	}
	response := &pulumirpc.ConvertProgramResponse{}
	var pcl strings.Builder
	for i, name := range strings.Fields(string(text)) {
		switch name {
		case "crash":
			fmt.Fprintln(os.Stderr, "the cage is open")
			os.Exit(3)
		case "bug":
			response.Diagnostics = append(response.Diagnostics, &codegen.Diagnostic{
				Severity: codegen.DiagnosticSeverity_DIAG_ERROR, Summary: "a bug is no pet",
				Subject: &codegen.Range{Filename: "zoo.txt", Start: &codegen.Pos{Line: int64(i + 1)}, End: &codegen.Pos{}}})
		case "shelf":
			pcl.WriteString("package \"shelf\" {\n  baseProviderName = \"terraform-provider\"\n  baseProviderVersion = \"1.0.0\"\n" +
				"  parameterization {\n    name = \"shelf\"\n    version = \"2.0.0\"\n    value = \"e30=\"\n  }\n}\n" +
				"resource \"book\" \"shelf:index:Book\" {}\n")
		default:
			if name, folder, module := strings.Cut(name, "@"); module {
				fmt.Fprintf(&pcl, "component %q %q {\n  prefix = %q\n}\n", name, folder, name)
				if !filepath.IsLocal(folder) {
					continue
				}
				inside := filepath.Join(r.GetTargetDirectory(), folder)
				if err := os.MkdirAll(inside, 0o755); err != nil {
					return nil, err
				}
				if err := os.WriteFile(filepath.Join(inside, "main.pp"), []byte("config \"prefix\" \"string\" {}\n"+
					"resource \"pet\" \"random:index/randomPet:RandomPet\" {\n  prefix = prefix\n}\n"), 0o644); err != nil {
					return nil, err
				}
				continue
			}
			response.Diagnostics = append(response.Diagnostics, warnings[name]...)
			fmt.Fprintf(&pcl, "resource %q \"random:index/randomPet:RandomPet\" {\n  prefix = %q\n}\n", name, name)
		}
	}
	return response, os.WriteFile(filepath.Join(r.GetTargetDirectory(), "main.pp"), []byte(pcl.String()), 0o644)
}

// warnings holds the findings of the converter by pet.
var warnings = map[string][]*codegen.Diagnostic{"cat": {{Severity: codegen.DiagnosticSeverity_DIAG_WARNING,
	Summary: "cats do as they like", Subject: &codegen.Range{Filename: "zoo.txt", Start: &codegen.Pos{Line: 1},
		End: &codegen.Pos{}}}}}

// ConvertState returns a resource for each word of a file.
func (c *testConverter) ConvertState(_ context.Context, r *pulumirpc.ConvertStateRequest) (*pulumirpc.ConvertStateResponse,
	error) {
	text, err := os.ReadFile(r.GetArgs()[0])
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.ConvertStateResponse{}
	for name := range strings.FieldsSeq(string(text)) {
		response.Resources = append(response.Resources, &pulumirpc.ResourceImport{
			Type: "random:index/randomString:RandomString", Name: name, Id: name + "-cat"})
	}
	return response, nil
}

func ask(ctx context.Context, loader, mapper string) error {
	for _, address := range []string{loader, mapper} {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		defer conn.Close()
		if address == loader {
			got, err := codegen.NewLoaderClient(conn).GetSchema(ctx, &codegen.GetSchemaRequest{Package: "random"})
			if err != nil {
				return fmt.Errorf("the schema of random: %w", err)
			}
			if !strings.Contains(string(got.GetSchema()), "RandomPet") {
				return errors.New("the schema of random has no RandomPet")
			}
		}
		if _, err := codegen.NewMapperClient(conn).GetMapping(ctx, &codegen.GetMappingRequest{Provider: "nobody"}); err != nil {
			return fmt.Errorf("the mapping of nobody: %w", err)
		}
	}
	return nil
}
