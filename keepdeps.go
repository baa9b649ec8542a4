//go:build keepdeps

package keepdeps

import (
	_ "github.com/Masterminds/semver/v3"
	_ "github.com/agext/levenshtein"
	_ "github.com/gofrs/flock"
	_ "github.com/google/renameio/v2"
	_ "github.com/hashicorp/hcl/v2/hclsyntax"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/pulumi/pulumi/sdk/v3/proto/go"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "github.com/stretchr/testify/require"
	_ "github.com/zclconf/go-cty/cty/function/stdlib"
	_ "golang.org/x/crypto/bcrypt"
	_ "golang.org/x/term"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "gopkg.in/yaml.v3"
	_ "pgregory.net/rapid"
)
