# Which programs a recipe's devices make, and what configuring says of devices and arguments that it does not know. What
# programs are made of are stand-ins.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sources=$1
touch "$folder/mine.hpp" "$folder/tape.hpp"

configure() {  # configure COMMANDS [ARGUMENT...]
  local commands=$1
  shift
  cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(any LANGUAGES CXX)
add_library(monomorph::train INTERFACE IMPORTED)
add_library(kernels INTERFACE)
include([[$sources/cmake/AddRecipe.cmake]])
$commands
END
  cmake -G Ninja -S "$folder" -B "$folder/build" "$@" 2>&1 | tr -s ' \n' ' '
}
refuses() {  # refuses TEXT COMMANDS [ARGUMENT...]
  local text=$1 said
  shift
  rm -rf "$folder/build"
  if said=$(configure "$@"); then
    echo "accepted: $1" >&2
    exit 1
  fi
  grep -qF -- "$text" <<<"$said" || { echo "$said"; exit 1; }
}
makes() {  # makes PROGRAMS COMMANDS [ARGUMENT...]
  local programs=$1
  shift
  rm -rf "$folder/build"
  configure "$@" >"$folder/said" || { cat "$folder/said"; exit 1; }
  [ "$(cd "$folder/build/recipes" && echo *_instance.cpp)" = "$programs" ] || { ls "$folder/build/recipes"; exit 1; }
}
instance_has() {  # instance_has PROGRAM TEXT
  grep -qF -- "$2" "$folder/build/recipes/$1_instance.cpp" || { cat "$folder/build/recipes/$1_instance.cpp"; exit 1; }
}
tape='monomorph_add_device(tape TYPE my::Tape HEADER tape.hpp LIBRARIES kernels)'

makes mine_instance.cpp 'monomorph_add_recipe(mine mine.hpp)'
instance_has mine 'run<OnDefault<recipes::mine, monomorph::device::Cpu>>'
makes 'mine_instance.cpp mine_tape_instance.cpp' "$tape
  monomorph_add_recipe(mine mine.hpp DEVICES cpu tape)
  get_target_property(linked recipe_mine_tape LINK_LIBRARIES)
  get_target_property(kernels monomorph::device_tape INTERFACE_LINK_LIBRARIES)
  if(NOT monomorph::device_tape IN_LIST linked OR NOT kernels STREQUAL kernels)
    message(FATAL_ERROR \"\${linked} \${kernels}\")
  endif()"
instance_has mine 'run<On<recipes::mine, monomorph::device::Cpu>>'
instance_has mine_tape 'run<On<recipes::mine, my::Tape>>'
instance_has mine_tape "#include \"$folder/tape.hpp\""
# On another default device the programs exchange their names.
makes 'mine_cpu_instance.cpp mine_instance.cpp' "$tape
  monomorph_add_recipe(mine mine.hpp DEVICES cpu tape)" -DMONOMORPH_DEVICE=tape
instance_has mine 'my::Tape'
makes mine_instance.cpp "$tape
  monomorph_add_recipe(mine mine.hpp)" -DMONOMORPH_DEVICE=tape
instance_has mine 'run<OnDefault<recipes::mine, my::Tape>>'
# A project that finds Monomorph in two of its folders, and one that has its own device twice.
makes mine_instance.cpp "include([[$sources/cmake/AddRecipe.cmake]])
  $tape
  $tape
  monomorph_add_recipe(mine mine.hpp)"

refuses '[SETUP-15] monomorph_add_recipe(mine): there is no device cuda in this build of Monomorph, but there is: cpu;' \
  'monomorph_add_recipe(mine mine.hpp DEVICES cpu cuda)'
refuses '[SETUP-15] monomorph_add_recipe(mine): there is no device tpu in this build of Monomorph, but there is: cpu, tape;' \
  "$tape
  monomorph_add_recipe(mine mine.hpp)" -DMONOMORPH_DEVICE=tpu
refuses '[SETUP-16] monomorph_add_device(tape): tape is another device already, with TYPE my::Tape' "$tape
  monomorph_add_device(tape TYPE other::Tape)"
refuses '[SETUP-16] monomorph_add_device(tape): tape is another device already' "$tape
  monomorph_add_device(tape TYPE my::Tape LIBRARIES other)"
refuses '[SETUP-04] monomorph_add_recipe(mine) must be written' 'monomorph_add_recipe(mine mine.hpp ON cpu)'
refuses '[SETUP-04] monomorph_add_recipe(mine) must be written' 'monomorph_add_recipe(mine mine.hpp DEVICES)'
refuses '[SETUP-04] monomorph_add_device(tape) must be written' 'monomorph_add_device(tape HEADER tape.hpp)'
refuses '[SETUP-05] monomorph_add_device(tape): no file' 'monomorph_add_device(tape TYPE my::Tape HEADER nowhere.hpp)'
refuses '[SETUP-05] monomorph_add_recipe(mine): no file' 'monomorph_add_recipe(mine nowhere.hpp)'
