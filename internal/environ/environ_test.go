package environ_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/environ"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	env := environ.List{"A=1", "AB=longer", "EMPTY=", "A=2=3", "ON=true", "ONE=1", "YES=yes", "broken"}
	text, set := env.Lookup("A")
	require.True(t, set)
	require.Equal(t, "2=3", text, "the later counts")
	text, set = env.Lookup("EMPTY")
	require.True(t, set)
	require.Empty(t, text)
	for _, name := range []string{"B", "broken", "", "A="} {
		_, set = env.Lookup(name)
		require.False(t, set, name)
	}
	text, set = env.Lookup("empty")
	require.Equal(t, []any{"", runtime.GOOS == "windows"}, []any{text, set}, "the letter case of names")
	require.Equal(t, []string{"/h", "/h", "C:\\u", ""}, []string{environ.List{"HOME=/h", "USERPROFILE=C:\\u"}.Home(),
		environ.List{"HOME=/h"}.Home(), environ.List{"USERPROFILE=C:\\u"}.Home(), environ.List{}.Home()})
	require.Equal(t, []bool{true, true, false, false}, []bool{env.True("ON"), env.True("ONE"), env.True("YES"),
		env.True("NO")})
}

func TestForChildren(t *testing.T) {
	t.Parallel()
	env := environ.List{"PATH=/bin", "PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_CONFIG_PASSPHRASE_FILE=/f",
		"PULUMI_ACCESS_TOKEN=t", "PGPASSWORD=g",
		"PULUMI_CONFIG_PASSPHRASE_HINT=stays", "AWS_SECRET_ACCESS_KEY=a", "AZURE_CLIENT_SECRET=z", "ARM_CLIENT_SECRET=r",
		"GOOGLE_CREDENTIALS=o",
		"VAULT_TOKEN=v", "PULUMI_BACKEND_URL=postgres://u:hidden@h/db?sslmode=require&password=hidden&sslkey=hidden",
		"broken"}
	kept := environ.List{"PATH=/bin", "PULUMI_CONFIG_PASSPHRASE_HINT=stays", "AWS_SECRET_ACCESS_KEY=a",
		"AZURE_CLIENT_SECRET=z",
		"ARM_CLIENT_SECRET=r", "GOOGLE_CREDENTIALS=o", "VAULT_TOKEN=v",
		"PULUMI_BACKEND_URL=postgres://u@h/db?sslmode=require", "broken"}
	require.Equal(t, kept, env.ForChildren())
	require.Len(t, env, 13)
	require.Equal(t, env, env.ForChildren(append(environ.Withheld(), "PULUMI_BACKEND_URL")...))
	require.Equal(t, "g", env.ForChildren("PGPASSWORD").Get("PGPASSWORD"))
	for url, want := range map[string]string{
		"file://~": "file://~", "s3://b/p?region=eu&endpoint=x": "s3://b/p?region=eu&endpoint=x",
		"file:///a b":                     "file:///a b",
		"azblob://c?sas_token=hidden&x=1": "azblob://c?x=1", "https://user:hidden@h": "https://user@h", "://u:hidden@h": "",
		"s3://b?a=%zz": "",
	} {
		got := environ.List{"PULUMI_BACKEND_URL=" + url}.ForChildren().Get("PULUMI_BACKEND_URL")
		require.Equal(t, want, got, url)
	}
}
