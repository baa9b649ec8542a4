package cli

// examples are the examples of each command by its path without the program's name: at least two of each. A test holds
// every line against the commands and flags that there are.
var examples = map[string][]example{
	"": {
		{"new hello --dir shop", "Make a project in the folder shop"},
		{"run shop", "Check, plan and apply it; state is in ~/.pulumi, or where `login` says"},
		{"up", "Change the stack to what the program says, after a preview and a question"},
	},
	"new": {
		{"new", "Choose a template and answer its questions"},
		{"new hello --dir shop --stack dev --yes", "Make a project in the folder shop without a question"},
		{"new --list", "List the templates"},
	},
	"check": {
		{"check", "Check the program of the working directory"},
		{"check --fix shop", "Apply every fix that is certain"},
		{"check --format sarif > findings.sarif", "Write findings for code scanning"},
	},
	"fmt": {
		{"fmt", "Format the program of the working directory"},
		{"fmt --check .", "In CI: fail when a file is not formatted"},
	},
	"explain": {
		{"explain Y210", "Show the page of a finding"},
		{"explain", "List all codes"},
	},
	"functions": {
		{"functions", "List what programs can call"},
		{"functions join", "Show one function with its parameters and an example"},
	},
	"schema": {
		{"schema random:RandomPet", "Show the inputs and outputs of a resource"},
		{"schema --json-schema > Pulumi.schema.json", "Write a JSON Schema of the project's files for editors"},
	},
	"migrate": {
		{"migrate --check", "Report how a project of the Pulumi CLI would work here, without changing it"},
		{"migrate --check --stack prod", "With the state and the configuration of one stack"},
	},
	"graph": {
		{"graph", "Show what depends on what"},
		{"graph --format svg > graph.svg", "Draw it"},
	},
	"run": {
		{"run", "Check, plan and apply, and create the stack dev if none is chosen"},
		{"run shop --stack prod --out markdown=summary.md", "Run in CI with a summary for a pull request"},
		{"run --plan plan.json", "Apply a reviewed plan exactly, or do nothing"},
		{"run --all --affected-by main", "Run every project that a change affects, in dependency order"},
	},
	"worker": {
		{"worker --queue postgres://db/queue --allow https://git.example.com/infra", "Run projects of those repositories"},
		{"worker --queue postgres://db/queue --allow archive --jobs 4", "Run archives, four at a time"},
	},
	"queue": {
		{"queue ls --queue postgres://db/queue", "List the jobs in a queue"},
		{"queue cancel 17 --queue postgres://db/queue", "Cancel one job"},
	},
	"queue ls": {
		{"queue ls --queue postgres://db/queue --limit 20", "List the last twenty jobs"},
		{"queue ls --queue postgres://db/queue --json", "List them for other programs"},
	},
	"queue show": {
		{"queue show 17 --queue postgres://db/queue", "Show a job with the end of its log"},
		{"queue show 17 --queue postgres://db/queue --json", "Show it for other programs"},
	},
	"queue cancel": {
		{"queue cancel 17 --queue postgres://db/queue", "Cancel one job"},
		{"queue cancel run-20260102T030405-abcd --queue postgres://db/queue", "Cancel all jobs of a run"},
	},
	"preview": {
		{"preview", "Show what `up` would do"},
		{"preview --diff > plan.txt", "Write the plan with every property to a file"},
		{"preview --save-plan plan.json --out html=plan.html", "Save the plan, and a page to review it"},
	},
	"plan": {
		{"plan --stack prod", "Show what `up` would do with the stack prod"},
		{"plan show plan.json", "Show a plan that was saved"},
	},
	"plan show": {
		{"plan show plan.json", "Show a saved plan; no plugin, network or passphrase is needed"},
		{"plan show plan.json --format markdown >> \"$GITHUB_STEP_SUMMARY\"", "Add it to the summary of a workflow"},
	},
	"up": {
		{"up", "Preview, ask, and apply"},
		{"up --yes --out junit=report.xml", "Apply without asking, and write a report"},
		{"up --target '**::database' --target-dependents", "Only the database and what depends on it"},
	},
	"refresh": {
		{"refresh", "Read every resource, show what differs, and ask before the state is changed"},
		{"refresh --preview-only --expect-no-changes", "Fail when anything has changed outside"},
	},
	"drift": {
		{"drift", "Report what differs from the state or the program, and change nothing"},
		{"drift --exit-code --out markdown=drift.md", "In a nightly job: exit code 17 and a report on drift"},
	},
	"destroy": {
		{"destroy", "Show what would be deleted, ask, and delete every resource of the stack"},
		{"destroy --yes --remove --stack test", "Delete all without asking, and then the stack too"},
	},
	"import": {
		{"import random:RandomString token k3Fq9sPz", "Add one resource to the stack and print YAML for it"},
		{"import --file resources.json --out resources.yaml", "Add all resources that a file lists"},
		{"import --query query.yaml", "Ask providers what exists, and add what the stack lacks"},
		{"import --query query.yaml --import-file found.json", "Write what exists to a file, to review it before the import"},
	},
	"stack": {
		{"stack", "Show the selected stack"},
		{"stack --stack prod --show-urns", "Show another one with the URNs of its resources"},
	},
	"stack init": {
		{"stack init dev", "Create the stack dev and select it"},
		{"stack init prod --secrets-provider passphrase --no-select", "Create a stack and leave the selection as it is"},
	},
	"stack select": {
		{"stack select prod", "Let commands act on prod from now on"},
		{"stack select test --create", "Create the stack when it does not exist"},
	},
	"stack unselect": {
		{"stack unselect", "Forget which stack was selected"},
		{"stack unselect -C shop", "The same in another folder"},
	},
	"stack rm": {
		{"stack rm test", "Remove an empty stack and its configuration, after a question"},
		{"stack rm test --force --yes", "Remove it even if it has resources; the resources themselves stay"},
	},
	"stack ls": {
		{"stack ls", "List the project's stacks"},
		{"stack ls --all --json", "List the stacks of all projects as JSON"},
	},
	"stack output": {
		{"stack output", "Show all outputs"},
		{"stack output url", "Print one output for a script"},
	},
	"stack history": {
		{"stack history", "Show what was done to the stack"},
		{"stack history --json --page-size 5 --page 1", "The last five operations as JSON"},
	},
	"stack export": {
		{"stack export --file state.json", "Write the state to a file; secrets stay sealed"},
		{"stack export | jq '.deployment.resources | length'", "Count the resources"},
	},
	"stack import": {
		{"stack import --file state.json", "Replace the state by one that was exported"},
		{"$ cat state.json | yamlhost stack import", "The same from standard input"},
	},
	"stack rename": {
		{"stack rename production", "Rename the selected stack"},
		{"stack rename production --stack prod", "Rename another one"},
	},
	"stack graph": {
		{"stack graph", "Write the graph of the state in DOT"},
		{"stack graph | dot -Tsvg > graph.svg", "Draw it with Graphviz"},
	},
	"stack change-secrets-provider": {
		{"stack change-secrets-provider passphrase", "Encrypt all secrets with a new passphrase"},
		{"stack change-secrets-provider awskms://alias/shop?region=eu-central-1", "Seal them with a key in AWS"},
	},
	"stack tag": {
		{"stack tag ls", "Show the tags of the stack"},
		{"stack tag set owner payments", "Set one"},
	},
	"stack tag ls": {
		{"stack tag ls", "Show the tags of the stack"},
		{"stack tag ls --json", "The same as JSON"},
	},
	"stack tag get": {
		{"stack tag get owner", "Print a tag"},
		{"stack tag get owner --stack prod", "Of another stack"},
	},
	"stack tag set": {
		{"stack tag set owner payments", "Set a tag"},
		{"stack tag set owner payments --stack prod", "Of another stack"},
	},
	"stack tag rm": {
		{"stack tag rm owner", "Remove a tag"},
		{"stack tag rm owner --stack prod", "From another stack"},
	},
	"config": {
		{"config", "Show the configuration of the selected stack"},
		{"config --show-secrets --json", "With secrets in plain text, as JSON"},
	},
	"config ls": {
		{"config ls", "Show the configuration of the selected stack"},
		{"config ls --stack prod", "Of another one"},
	},
	"config get": {
		{"config get region", "Print one value"},
		{"config get --path servers[0].port", "Print a part of it"},
	},
	"config set": {
		{"config set region eu-central-1", "Set a value"},
		{"$ yamlhost config set --secret token < token.txt", "Set a secret without writing it on the command line"},
		{"config set --path servers[0].port 8080", "Set a part of a value"},
	},
	"config rm": {
		{"config rm region", "Remove a value"},
		{"config rm --path servers[0] --stack prod", "Remove a part of one in another stack"},
	},
	"config set-all": {
		{"config set-all --plaintext region=eu --plaintext size=3", "Set two values at once"},
		{"config set-all --secret token=t0p --plaintext region=eu", "One of them sealed"},
	},
	"state": {
		{"state verify", "Check every rule that a state must follow"},
		{"state protect urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet", "Protect a resource"},
	},
	"state verify": {
		{"state verify", "Check the state of the selected stack"},
		{"state verify --stack prod", "Of another one"},
	},
	"state repair": {
		{"state repair", "Repair what can be repaired, after a question"},
		{"state repair --yes --stack prod", "Without asking"},
	},
	"state delete": {
		{"state delete urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet",
			"Remove a resource from the state; the resource itself stays"},
		{"state delete --all --yes", "Forget everything"},
	},
	"state move": {
		{"state move --dest prod urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet",
			"Move a resource of the selected stack to prod"},
		{"state move --source dev --dest prod --include-parents urn:pulumi:dev::shop::app:index:App::app",
			"Move a component with its parents"},
	},
	"state rename": {
		{"state rename urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet cat", "Give a resource another name"},
		{"state rename --stack prod urn:pulumi:prod::shop::random:index/randomPet:RandomPet::pet cat", "In another stack"},
	},
	"state protect": {
		{"state protect urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet", "Protect one resource"},
		{"state protect --all --yes", "Protect all"},
	},
	"state unprotect": {
		{"state unprotect urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet", "Allow a resource to be deleted"},
		{"state unprotect --all --yes", "Allow it for all"},
	},
	"state taint": {
		{"state taint urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet", "Have the next update replace it"},
		{"state taint --all --yes", "Have it replace all resources resources resources"},
	},
	"state untaint": {
		{"state untaint urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet", "Undo `taint` for a resource"},
		{"state untaint --all --yes", "Undo it for all resources"},
	},
	"cancel": {
		{"cancel", "Remove the locks of the selected stack, after a question"},
		{"cancel prod --yes", "Remove those of prod without asking"},
	},
	"login": {
		{"login --local", "Keep state in the home folder"},
		{"login s3://bucket/states?region=eu-central-1", "Keep it in a bucket"},
		{"login file:///srv/states", "Keep it in a folder"},
	},
	"logout": {
		{"logout", "Forget the backend in use"},
		{"logout s3://bucket/states", "Forget another one"},
	},
	"whoami": {
		{"whoami", "Print the user that locks and history name"},
		{"whoami --json", "With the backend, as JSON"},
	},
	"plugin": {
		{"plugin ls", "List plugins"},
		{"plugin install", "Install those of the lock file"},
	},
	"plugin ls": {
		{"plugin ls", "List installed and built-in plugins"},
		{"plugin ls --json", "As JSON"},
	},
	"plugin install": {
		{"plugin install", "Install what the lock file of the project lists"},
		{"plugin install resource random 4.16.0", "Install one plugin"},
		{"plugin install resource random 4.16.0 --file pulumi-resource-random.tar.gz", "From a file, without network"},
	},
	"plugin rm": {
		{"plugin rm resource random 4.16.0", "Remove one plugin"},
		{"plugin rm --all --yes", "Remove all without asking"},
	},
	"lsp": {
		{"lsp", "Serve an editor; its extension starts this"},
		{"lsp -C shop", "Serve it for another folder"},
	},
	"mcp": {
		{"mcp", "Serve a coding assistant for the working directory"},
		{"mcp shop", "For another folder"},
	},
	"shim": {
		{"shim ~/.yamlhost/shim", "Make a folder in which this program is called pulumi"},
		{"$ PATH=~/.yamlhost/shim:$PATH node deploy.js", "Run a tool that calls pulumi with it"},
	},
	"doctor": {
		{"doctor", "Check plugins, backend, clock, terminal and shell"},
		{"doctor -C shop", "Look for the project in another folder"},
	},
	"about": {
		{"about", "Show versions, backend, stack and providers"},
		{"about --json", "As JSON"},
	},
	"version": {
		{"version", "Print version and edition"},
		{"--version", "The same"},
	},
	"completion": {
		{"$ source <(yamlhost completion bash)", "Complete commands in this bash"},
		{"completion zsh > \"${fpath[1]}/_yamlhost\"", "Complete them in every zsh from now on"},
	},
	"completion bash": {
		{"$ source <(yamlhost completion bash)", "Complete commands in this shell"},
		{"completion bash > /etc/bash_completion.d/yamlhost", "In every shell from now on"},
	},
	"completion zsh": {
		{"$ source <(yamlhost completion zsh)", "Complete commands in this shell"},
		{"completion zsh > \"${fpath[1]}/_yamlhost\"", "In every shell from now on"},
	},
	"completion fish": {
		{"completion fish | source", "Complete commands in this shell"},
		{"completion fish > ~/.config/fish/completions/yamlhost.fish", "In every shell from now on"},
	},
	"completion powershell": {
		{"completion powershell | Out-String | Invoke-Expression", "Complete commands in this shell"},
		{"completion powershell >> $PROFILE", "In every shell from now on"},
	},
	"help": {
		{"help up", "Show what `up` takes"},
		{"help stack init", "Show it of a command below another one"},
	},
}
