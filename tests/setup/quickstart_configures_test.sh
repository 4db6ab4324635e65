# A first configuration that failed leaves a cache and nothing to build with: ./quickstart configures again.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{tools/setup,build/cpu,bin}
cp "$1/quickstart" "$folder"
touch "$folder/build/cpu/CMakeCache.txt"
printf '#!/bin/sh\n' >"$folder/tools/setup/install"
printf '#!/bin/sh\necho "$*" >>%q/calls\n[ "$1" = --preset ]\n' "$folder" >"$folder/bin/cmake"
chmod +x "$folder/tools/setup/install" "$folder/bin/cmake"

PATH=$folder/bin:$PATH "$folder/quickstart" >/dev/null 2>&1 || true  # stops where it would build
cat "$folder/calls"
grep -q -- '^--preset cpu' "$folder/calls"
