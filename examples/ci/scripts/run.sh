#!/bin/sh
# Runs one command of yamlhost with every report that a CI system can use, and ends with its exit code.
#
#   run.sh FOLDER COMMAND [ARGUMENTS]
#
# FOLDER gets report.md, report.html, report.json, report.sarif and junit.xml, also when the command fails. The variable
# YAMLHOST names the program; by default it is yamlhost on PATH.
set -u

folder=$1
shift
mkdir -p "$folder"
"${YAMLHOST:-yamlhost}" "$@" \
	--out "markdown=$folder/report.md" \
	--out "html=$folder/report.html" \
	--out "json=$folder/report.json" \
	--out "sarif=$folder/report.sarif" \
	--out "junit=$folder/junit.xml"
code=$?
echo "$code" > "$folder/exit-code"
exit "$code"
