#!/bin/sh
# Installs yamlhost for this machine: fetches the archive of a release, holds it against the checksums of the release, and puts the
# programs into a folder. Nothing is written there unless the checksum is right.
#
#   install.sh [VERSION]
#
#   YAMLHOST_INSTALL_DIR   the folder for the programs; by default /usr/local/bin, or ~/.local/bin without the right to write there
#   YAMLHOST_EDITION       default, or lean: without object stores and cloud key services
#   YAMLHOST_RELEASES      where releases are, for mirrors
#   YAMLHOST_PUBLIC_KEY    minisign's public key of the releases; with it the signature of the checksums is verified, too
set -eu

releases=${YAMLHOST_RELEASES:-https://github.com/yamlhost/yamlhost/releases}
edition=${YAMLHOST_EDITION:-default}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

if command -v curl >/dev/null 2>&1; then
  fetch() { curl -fsSL --retry 3 -o "$2" "$1"; }
elif command -v wget >/dev/null 2>&1; then
  fetch() { wget -q -O "$2" "$1"; }
else
  fail "neither curl nor wget is installed"
fi

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no archive for $(uname -s) that this script can install; see $releases" ;;
esac
case $(uname -m) in
  x86_64 | amd64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  *) fail "there is no archive for $(uname -m)" ;;
esac
case $edition in
  default) product=yamlhost ;;
  lean) product=yamlhost-lean ;;
  *) fail "YAMLHOST_EDITION is default or lean, not $edition" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

version=${1:-}
if [ -z "$version" ]; then
  # The page of the latest release is a redirection to one whose address ends in the version.
  if command -v curl >/dev/null 2>&1; then
    version=$(curl -fsSLI -o /dev/null -w '%{url_effective}' "$releases/latest")
  else
    version=$(wget -q -S --spider "$releases/latest" 2>&1 | sed -n 's/^ *Location: *//p' | tail -n 1)
  fi
  version=${version##*/}
  [ -n "$version" ] || fail "cannot find out the latest version from $releases/latest; name one: install.sh VERSION"
fi
version=${version#v}

name=${product}_${version}_${system}_${machine}
at=$releases/download/v$version
fetch "$at/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot fetch $at/SHA256SUMS: is $version a release?"
if [ -n "${YAMLHOST_PUBLIC_KEY:-}" ]; then
  command -v minisign >/dev/null 2>&1 || fail "YAMLHOST_PUBLIC_KEY is set, but minisign is not installed"
  fetch "$at/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig" || fail "cannot fetch the signature $at/SHA256SUMS.minisig"
  minisign -Vqm "$work/SHA256SUMS" -P "$YAMLHOST_PUBLIC_KEY" || fail "the signature of the checksums is not of this key; nothing was installed"
fi
fetch "$at/$name.tar.gz" "$work/$name.tar.gz" || fail "cannot fetch $at/$name.tar.gz"

want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$want" ] || fail "SHA256SUMS has no checksum of $name.tar.gz"
if command -v sha256sum >/dev/null 2>&1; then
  got=$(sha256sum "$work/$name.tar.gz")
else
  got=$(shasum -a 256 "$work/$name.tar.gz")
fi
[ "${got%% *}" = "$want" ] || fail "the checksum of $name.tar.gz is ${got%% *}, but the release says $want; nothing was installed"

if [ -n "${YAMLHOST_INSTALL_DIR:-}" ]; then
  into=$YAMLHOST_INSTALL_DIR
elif [ -w /usr/local/bin ]; then
  into=/usr/local/bin
else
  into=$HOME/.local/bin
fi
mkdir -p "$into"
tar -xzf "$work/$name.tar.gz" -C "$work"
for program in yamlhost pulumi-language-yaml pulumi-converter-yaml; do
  # A running program may be replaced by renaming, but not by writing.
  cp "$work/$name/$program" "$into/.$program.new"
  chmod 755 "$into/.$program.new"
  mv -f "$into/.$program.new" "$into/$program"
done
echo "yamlhost $version is in $into"
case :$PATH: in
  *:"$into":*) echo "Begin with: yamlhost new" ;;
  *) echo "Add $into to PATH, then begin with: yamlhost new" ;;
esac
