#!/bin/sh
# Puts a Markdown report under a pull or merge request, once: a later run changes its own comment.
#
#   comment.sh FILE [KEY]
#
# KEY tells comments of several stacks apart. GitHub: GITHUB_TOKEN, GITHUB_REPOSITORY and PR_NUMBER. GitLab: GITLAB_TOKEN,
# CI_PROJECT_ID and CI_MERGE_REQUEST_IID. Needs curl and jq. The token goes to curl by standard input, so that no list of
# processes shows it.
set -eu

file=$1
key=${2:-yamlhost}
marker="<!-- yamlhost: $key -->"

if [ -n "${GITLAB_CI:-}" ]; then
	api="${CI_API_V4_URL:-https://gitlab.com/api/v4}/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
	each=$api
	header="PRIVATE-TOKEN: $GITLAB_TOKEN"
	change=PUT
else
	base="${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY/issues"
	api="$base/$PR_NUMBER/comments"
	each="$base/comments"
	header="Authorization: Bearer $GITHUB_TOKEN"
	change=PATCH
fi

# call METHOD URL [curl arguments]
call() {
	method=$1 url=$2
	shift 2
	printf 'header = "%s"\n' "$header" |
		curl --silent --show-error --fail-with-body --retry 3 --config - --request "$method" --header 'Content-Type: application/json' "$@" "$url"
}

body=$(mktemp)
trap 'rm -f "$body"' EXIT
jq -n --arg marker "$marker" --rawfile text "$file" '{body: ($marker + "\n" + $text)}' > "$body"

id='' page=1
while [ -z "$id" ]; do
	found=$(call GET "$api?per_page=100&page=$page")
	id=$(printf '%s' "$found" | jq -r --arg marker "$marker" '[.[] | select((.body // "") | startswith($marker)) | .id][0] // empty')
	[ "$(printf '%s' "$found" | jq length)" -lt 100 ] && break
	page=$((page + 1))
done

if [ -n "$id" ]; then
	call "$change" "$each/$id" --data "@$body" > /dev/null
	echo "changed comment $id"
else
	call POST "$api" --data "@$body" > /dev/null
	echo "added a comment"
fi
