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
compiler() { # compiler <release>: one that says that it is of that release
  printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.1"\n' "$1" "$1" >"$folder/bin/compiler"
  chmod +x "$folder/bin/compiler"
}
compiler 13.0
CUDACXX=compiler expect_refusal 'SETUP-18.*lacks a GPU that nvidia-smi sees;' --gpu
expect_refusal 'SETUP-19.*--cuda' --cuda
expect_refusal 'SETUP-19.*quotation marks' To be

gpu() { # gpu <compute capability>: one that nvidia-smi sees
  printf '#!/bin/sh\ncase $1 in -L) echo "GPU 0: a stand-in" ;; *) echo %s ;; esac\n' "$1" >"$folder/bin/nvidia-smi"
}
gpu 7.5
CUDACXX=compiler expect_refusal 'SETUP-18.*lacks a GPU of compute capability 8.0 or above (this one has 7.5);' --gpu
gpu 10.0
CUDACXX=no-such-compiler expect_refusal 'SETUP-18.*lacks the CUDA toolkit 13' --gpu
compiler 12.8
CUDACXX=compiler expect_refusal 'SETUP-18.*lacks the CUDA toolkit 13 (.*compiler is older);' --gpu
compiler 13.1
CUDACXX=compiler "$folder/quickstart" --gpu "To be" >/dev/null 2>&1 || true  # stops where it would build
cat "$folder/calls"
grep -q '^install --gpu$' "$folder/calls"
grep -q '^cmake --preset gpu' "$folder/calls"
grep -q '^cmake --build build/gpu --target quickstart_cuda monomorph-data$' "$folder/calls"
