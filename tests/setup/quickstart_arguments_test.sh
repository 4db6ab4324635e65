# ./quickstart says in one line, and before it installs anything, what --gpu lacks and what is wrong with its arguments;
# with a GPU and a toolkit it builds the preset gpu.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{tools/setup,bin}
cp "$1/quickstart" "$folder"
printf '#!/bin/sh\necho "install $*" >>%q/calls\n' "$folder" >"$folder/tools/setup/install"
printf '#!/bin/sh\necho "cmake $*" >>%q/calls\n[ "$1" = --preset ]\n' "$folder" >"$folder/bin/cmake"
printf '#!/bin/sh\nexit 9\n' >"$folder/bin/nvidia-smi"
chmod +x "$folder/tools/setup/install" "$folder"/bin/*
export PATH=$folder/bin:$PATH

expect_refusal() { # expect_refusal <pattern> <arguments of quickstart>
  local pattern=$1 status=0 said
  shift
  said=$("$folder/quickstart" "$@" 2>&1) || status=$?
  echo "$said"
  [ "$status" = 2 ]
  [ "$(wc -l <<<"$said")" = 1 ]
  grep -q "$pattern" <<<"$said"
  [ ! -e "$folder/calls" ]
}
CUDACXX=no-such-compiler expect_refusal 'SETUP-18.*nvidia-smi sees, and the CUDA toolkit 13 (no-such-compiler' --gpu
CUDACXX=true expect_refusal 'SETUP-18.*lacks a GPU that nvidia-smi sees;' --gpu
expect_refusal 'SETUP-19.*--cuda' --cuda
expect_refusal 'SETUP-19.*quotation marks' To be

printf '#!/bin/sh\necho "GPU 0: a stand-in"\n' >"$folder/bin/nvidia-smi"
CUDACXX=no-such-compiler expect_refusal 'SETUP-18.*lacks the CUDA toolkit 13' --gpu
CUDACXX=true "$folder/quickstart" --gpu "To be" >/dev/null 2>&1 || true  # stops where it would build
cat "$folder/calls"
grep -q '^install --gpu$' "$folder/calls"
grep -q '^cmake --preset gpu' "$folder/calls"
grep -q '^cmake --build build/gpu --target quickstart_cuda monomorph-data$' "$folder/calls"
