# A package that is only helpful and that the system does not have costs neither a required nor another helpful one.
set -euo pipefail
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir "$root/.deps"
for_tests=false
source "$1/tools/setup/system_packages.sh"

missing_system_packages() { if [ "$1" = required ]; then echo cmake; else printf 'mold\nccache\n'; fi; }
as_root() { shift 2; "$@"; }
apt-get() {
  [[ " $* " != *" mold "* ]] || { echo "E: Unable to locate package mold"; return 100; }
  echo "$*" >>"$root/calls"
}

said=$(install_missing_system_packages 2>"$root/errors")
cat "$root/calls" "$root/errors"
echo "$said"
[ "$(grep -c '^update' "$root/calls")" = 1 ]
grep -q '^install.* cmake$' "$root/calls"
grep -q '^install.* ccache$' "$root/calls"
[[ $said == *"going on without: mold" ]]

missing_system_packages() { if [ "$1" = helpful ]; then echo mold; fi; }
[ -z "$(install_missing_system_packages)" ]  # it is asked for once
