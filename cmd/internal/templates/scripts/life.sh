#!/bin/sh
# Tests the program: `sh test.sh`. It works on a copy of this folder with a state of its own, and removes both.
set -eu
work=$(mktemp -d)
mkdir "$work/state"
cp -R "$(dirname "$0")" "$work/project"
cd "$work/project"
export PULUMI_BACKEND_URL="file://$work/state"
#setup
finish() {
	yamlhost destroy --yes --stack dev >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap finish EXIT
fail() {
	echo "test: $*" >&2
	exit 1
}

yamlhost check
yamlhost run --stack dev
yamlhost run --stack dev --expect-no-changes

#promises

yamlhost destroy --yes --stack dev
echo "test: passed"
