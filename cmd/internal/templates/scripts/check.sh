#!/bin/sh
# Tests the program. `sh test.sh` checks it against the schemas of its providers, which come from installed plugins, or
# from a folder: `sh test.sh --schema-dir DIR`. `sh test.sh --plan` also plans it, which needs the plugins and credentials
# and changes nothing. It works on a copy of this folder with a state of its own.
set -eu
work=$(mktemp -d)
mkdir "$work/state"
cp -R "$(dirname "$0")" "$work/project"
cd "$work/project"
export PULUMI_BACKEND_URL="file://$work/state"
trap 'rm -rf "$work"' EXIT
plan=
if [ "${1-}" = --plan ]; then
	plan=yes
	shift
fi
if ! yamlhost check "$@"; then
	echo "test: failed. A provider that is missing is downloaded, and locked in yamlhost.lock.json, by:" >&2
	echo "    yamlhost preview --accept-new-plugins" >&2
	exit 1
fi
if [ -n "$plan" ]; then
	yamlhost run --plan-only --stack dev
fi
echo "test: passed"
