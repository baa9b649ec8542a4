#!/usr/bin/env bash
# usage: test.sh [vscode] [nvim] [emacs] [mcp]   Drives editors against the program that YAMLHOST_BINARY names; all of them by default.
# What is missing is installed where that is possible: editors from Debian by apt-get, the rest by npm. What an editor showed is
# kept in bin/editor.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
export YAMLHOST_BINARY=${YAMLHOST_BINARY:-$root/bin/yamlhost}
mkdir -p "$root/bin/editor"

need() { # command packages...
  command -v "$1" > /dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get install -qq -y --no-install-recommends "${@:2}" > /dev/null
  fi
  command -v "$1" > /dev/null || { echo "$1 is missing: install ${*:2}"; exit 1; }
}

# project makes a project with a wrong name in it, and a stack, in a folder of its own.
project() {
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir "$folder/project" "$folder/home" "$folder/state"
  export HOME=$folder/home PULUMI_HOME=$folder/home/.pulumi PULUMI_BACKEND_URL=file://$folder/state PULUMI_CONFIG_PASSPHRASE=test
  export YAMLHOST_PROJECT=$folder/project XDG_CONFIG_HOME=$folder/home XDG_STATE_HOME=$folder/home
  cat > "$folder/project/Pulumi.yaml" <<'YAML'
name: sample
runtime: yaml
resources:
  pet:
    type: random:RandomPet
  next:
    type: random:RandomPet
    properties:
      prefix: ${pot.id}
outputs:
  name: ${pet.id}
YAML
  "$YAMLHOST_BINARY" -C "$folder/project" stack init dev
}

drive_vscode() {
  need node nodejs
  need npm npm
  cd vscode
  [ -d node_modules ] || npm ci --silent
  cp "$root/LICENSE" .
  npm run -s check
  npm run -s build
  npm run -s package
  rm -f "$root/bin/editor/vscode.txt"
  YAMLHOST_CAPTURE=$root/bin/editor/vscode.txt node --test --test-timeout=120000 --test-concurrency=1 --test-reporter=spec test/*.test.mjs
}

drive_mcp() {
  need node nodejs
  need npm npm
  cd mcp
  [ -d node_modules ] || npm ci --silent --ignore-scripts
  rm -f "$root/bin/editor/mcp.txt"
  YAMLHOST_CAPTURE=$root/bin/editor/mcp.txt npm test --silent
}

drive_nvim() {
  need nvim neovim
  project
  timeout 120 nvim --headless -u NONE -c 'luafile nvim/test.lua' | tee "$root/bin/editor/nvim.txt"
}

drive_emacs() {
  need emacs emacs-nox elpa-eglot
  project
  timeout 120 emacs --batch -l emacs/test.el 2>&1 | tee "$root/bin/editor/emacs.txt"
}

for client in "${@:-vscode nvim emacs mcp}"; do
  for one in $client; do
    echo "== $one"
    ( "drive_$one" )
  done
done
