# bash installed_test.sh PREFIX [HIDDEN...]: with the installation in PREFIX at another place and the folders HIDDEN empty (the
# sources, the build, LibTorch), its programs start, and a recipe is configured, built and run. What compiles is CMake's
# choice by the environment.
set -euo pipefail
export prefix=$1
shift
folder=$(mktemp -d -t "a package ä XXXXXX")
trap 'rm -rf "$folder"' EXIT
export folder
cp -r "$(dirname "${BASH_SOURCE[0]}")" "$folder/project"
mkdir "$folder/package"

try() {  # PACKAGE
  cd "$folder"
  "$1/bin/monomorph-checkpoint" --help >/dev/null
  "$1/bin/monomorph-data" --help >/dev/null
  cmake -S project -B build -DCMAKE_PREFIX_PATH="$1"
  cmake --build build
  build/external_tiny describe | tee description
  grep -q external_tiny description
}

# HIDDEN...: in a mount namespace, with which the mounts go.
hide_and_try() {
  local other
  mount --bind "$prefix" "$folder/package"
  for other in "$@"; do
    if [ -d "$other" ]; then  # it may have been in one before it
      mount -t tmpfs none "$other"
    fi
  done
  try "$folder/package"
}

export -f try hide_and_try
for namespace in "unshare --mount" "unshare --mount --map-root-user"; do
  if $namespace mount -t tmpfs none "$folder/package" 2>/dev/null; then
    $namespace bash -euo pipefail -c 'hide_and_try "$@"' hide_and_try "$@"
    exit
  fi
done
try "$prefix"
echo "skipped: mount namespaces can't be made here, so the installation was tried with the sources in reach"
