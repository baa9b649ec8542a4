#!/bin/sh
# Tests the program: `sh test.sh` checks it against the schemas of its providers, and `sh test.sh --plan` also plans it,
# which needs credentials and changes nothing. It works on a copy of this folder with a state of its own.
set -eu
work=$(mktemp -d)
mkdir "$work/state"
cp -R "$(dirname "$0")" "$work/project"
cd "$work/project"
export PULUMI_BACKEND_URL="file://$work/state"
trap 'rm -rf "$work"' EXIT

yamlhost check
if [ "${1-}" = --plan ]; then
	yamlhost run --plan-only --stack dev
fi
echo "test: passed"
