package providers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// The environment of a plugin, which its child processes inherit, has no secrets of the configuration.
func TestNoSecretsInPluginEnvironment(t *testing.T) { // E3.2
	t.Parallel()
	c := Config{
		Values: map[string]string{"cloud:region": "eu", "cloud:token": "hidden", "other:x": "1", "p:y": "hidden too"},
		Secret: []string{"cloud:token", "p:y"},
	}
	require.Equal(t, map[string]string{"region": "eu"}, c.environment("cloud"))
	require.Equal(t, map[string]string{"region": "eu", "token": "hidden"}, c.of("cloud"), "what it is configured with")
	require.Equal(t, c.Values, c.environment("pulumi-nodejs"), "code of a program reads what it likes")
}

func TestDefaultProviderName(t *testing.T) { // E3.30
	require.Equal(t, "default", DefaultName("", ""))
	require.Equal(t, "default_1_2_3_alpha_1", DefaultName("1.2.3-alpha.1", ""))
	require.Equal(t, "default_1_0_0_https___example_com_x", DefaultName("1.0.0", "https://example.com/x"))
}

// E3.21, E3.22: PackageOf reverses WithPackage.
func TestPackageOfProviderInputs(t *testing.T) {
	p := monitor.Package{Name: "base", Version: "2.0.0", DownloadURL: "u",
		Checksums:        map[string][]byte{"linux-amd64": {1, 2}},
		Parameterization: &monitor.Parameterization{Name: "made", Version: "1.0.0", Value: []byte("x")}}
	inputs := WithPackage(value.EmptyMap(), p, map[string]string{"NEW": "OLD"})
	require.Equal(t, provider.Package{Name: "base", Version: "2.0.0", DownloadURL: "u", Checksums: p.Checksums,
		Parameterization: &provider.Parameterization{Name: "made", Version: "1.0.0", Value: []byte("x")},
		EnvVarMappings:   map[string]string{"NEW": "OLD"}}, PackageOf("made", inputs))
	require.False(t, WithoutInternal(inputs).Has(internalKey))
	require.True(t, slices.Equal([]string{versionKey}, WithoutInternal(inputs).Keys()))
}

// E2.67: equal packages get the same reference, different ones do not.
func TestPackagesAreKnownByTheirContent(t *testing.T) {
	k := &New(Options{}).Packages
	n := 0
	newID := func() string { n++; return string(rune('a' + n)) }
	p := monitor.Package{Name: "p", Version: "1.0.0"}
	first, err := k.Register(p, newID)
	require.NoError(t, err)
	again, err := k.Register(p, newID)
	require.NoError(t, err)
	require.Equal(t, first, again)
	p.Version = "2.0.0"
	other, err := k.Register(p, newID)
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	found, err := k.Request("q", monitor.Plugin{PackageRef: other})
	require.NoError(t, err)
	require.Equal(t, p, found)
	_, err = k.Request("q", monitor.Plugin{PackageRef: "nobody"})
	require.Error(t, err)
	_, err = k.Register(monitor.Package{Name: "p", Extension: true}, newID)
	require.Error(t, err, "an extension says what it is")
}
