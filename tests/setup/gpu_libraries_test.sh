# Without the CUDA libraries of its wheel, LibTorch links and does not load: configuring says so, and what to do.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/torch/{include/ATen/core,include/fmt,lib} "$folder"/nvidia/{cu13,cudnn,nccl}/lib "$folder"/nvidia/nccl/include
touch "$folder"/nvidia/nccl/include/nccl.h "$folder"/torch/include/ATen/core/Tensor.h "$folder"/torch/lib/libtorch_cpu.so "$folder"/nvidia/cu13/lib/libcudart.so.13
printf 'cmake_minimum_required(VERSION 3.25)\nproject(any LANGUAGES CXX)\ninclude([[%s]])\n' \
  "$1/cmake/MonomorphDependencies.cmake" >"$folder/CMakeLists.txt"
configure() { cmake -G Ninja -S "$folder" -B "$folder/build" -DMONOMORPH_NCCL=ON -DMONOMORPH_TORCH_DIR="$folder/torch" 2>&1; }

if said=$(configure); then
  echo "accepted without the libraries" >&2
  exit 1
fi
echo "$said"
grep -q 'SETUP-07' <<<"$said"
tr -s ' \n' ' ' <<<"$said" | grep -q 'tools/setup/install --nccl'

touch "$folder"/nvidia/cu13/lib/libcublas.so.13 "$folder"/nvidia/cudnn/lib/libcudnn.so.9 "$folder"/nvidia/nccl/lib/libnccl.so.2
configure
