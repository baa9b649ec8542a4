package templates

import (
	_ "embed" // the scripts
	"strings"
)

// The scripts that test projects made from the templates of the binary. lifeScript takes a stack from nothing to
// nothing, and has the lines #setup and #promises for what a template adds to it; checkScript is for programs whose
// providers need credentials.
var (
	//go:embed scripts/life.sh
	lifeScript string
	//go:embed scripts/check.sh
	checkScript string
)

// lives are the templates that lifeScript tests, with the lines that each adds.
var lives = map[string]struct{ setup, promises string }{
	"hello": {promises: `greeting=$(yamlhost stack output greeting --stack dev)
name=$(yamlhost stack output name --stack dev)
[ "$greeting" = "Hello, $name!" ] || fail "the greeting is: $greeting"
`},
	"empty": {promises: `# What the program promises belongs here, such as:
# [ "$(yamlhost stack output name --stack dev)" = "..." ] || fail "the name is another"
`},
	"github-actions": {promises: hasName},
	"gitlab-ci":      {promises: hasName},
	"component-package": {promises: `morning=$(yamlhost stack output morning --stack dev)
case $morning in
"Good morning, "*!) ;;
*) fail "the words are: $morning" ;;
esac
`},
	"dynamic-provider": {
		setup: `export PULUMI_CONFIG_PASSPHRASE="${PULUMI_CONFIG_PASSPHRASE-test}" # of the copy alone
`,
		promises: `path=$(yamlhost stack output path --stack dev)
grep -q "Bread and butter" "$path" || fail "the note is not in $path"
`},
}

const hasName = `name=$(yamlhost stack output name --stack dev)
[ -n "$name" ] || fail "there is no name"
`

// testScript returns the script for projects made from an embedded template.
func testScript(template string) File {
	text := checkScript
	if life, ok := lives[template]; ok {
		text = strings.NewReplacer("#setup\n", life.setup, "#promises\n", life.promises).Replace(lifeScript)
	}
	return File{Path: TestScript, Text: []byte(text), Mode: 0o644}
}
