# Sourced by install. Looks for the things themselves, not for packages, so that any system that has them will do.

# Prints the Debian packages of what is missing. $1: required, or helpful (the build works without it).
missing_system_packages() {
  local command
  if [ "$1" = helpful ]; then
    for command in ccache mold; do
      command -v "$command" >/dev/null || echo "$command"
    done
    missing_libraries "${CXX:-g++}"
    if $for_tests; then
      command -v clang++ >/dev/null || echo clang
      has_fuzzer || echo libclang-rt-dev
      command -v mpirun >/dev/null || echo openmpi-bin
      command -v ip >/dev/null || echo iproute2
    fi
    return
  fi
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  if $for_tests && ! command -v python3 >/dev/null; then
    echo python3
  fi
  local compiler=${CXX:-g++}
  if ! command -v "$compiler" >/dev/null; then
    compiler=g++
    command -v g++ >/dev/null || { echo g++; compiler=; }
  fi
  missing_headers "$compiler"
}

# Whether clang++ has libFuzzer and the sanitizers, which come in a package of their own.
has_fuzzer() {
  local archive
  archive=$(clang++ -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a 2>/dev/null) && [ -e "$archive" ] ||
    { archive=$(clang++ -print-runtime-dir 2>/dev/null) && ls "$archive"/libclang_rt.fuzzer*.a >/dev/null 2>&1; }
}

# One run of the preprocessor asks for all headers; without a compiler, all are taken for missing.
missing_headers() {
  local headers=(boost/hana.hpp:libboost-dev nlohmann/json.hpp:nlohmann-json3-dev CLI/CLI.hpp:libcli11-dev
    xxhash.h:libxxhash-dev utf8proc.h:libutf8proc-dev pcre2.h:libpcre2-dev sentencepiece_processor.h:libsentencepiece-dev
    simdjson.h:libsimdjson-dev gloo/algorithm.h:libgloo-dev)
  local pair
  {
    for pair in "${headers[@]}"; do
      printf '#if !__has_include(<%s>)\nmissing:%s\n#endif\n' "${pair%%:*}" "${pair##*:}"
    done
    if $for_tests; then
      printf '#if !__has_include(<catch2/catch.hpp>) && !__has_include(<catch2/catch_all.hpp>)\nmissing:catch2\n#endif\n'
    fi
  } | { [ -n "$1" ] && "$1" -std=c++20 -E -P -x c++ - || cat; } | sed -n 's/^missing://p'
}

# Of the headers of what decompresses inputs and speaks HTTP. $1: a compiler
missing_libraries() {
  local pair
  for pair in zlib.h:zlib1g-dev zstd.h:libzstd-dev httplib.h:libcpp-httplib-dev; do
    printf '#include <%s>\n' "${pair%%:*}" | "$1" -E -x c++ - >/dev/null 2>&1 || echo "${pair##*:}"
  done
}

# Runs a command as root, or fails.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    return 1
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# quiet_apt <argument of apt-get>...: with the output kept for the case of failure.
quiet_apt() {
  local log
  log=$(mktemp)
  if as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
  fi
}

package_lists_are_new=false

# apt_install <package>...: all of them, or none.
apt_install() {
  command -v apt-get >/dev/null || return 1
  $package_lists_are_new || quiet_apt update -q || return 1
  package_lists_are_new=true
  quiet_apt install -qy --no-install-recommends "$@"
}

refused_file=helpful-packages-refused  # what is only helpful is asked for once

# One by one, for none may cost another. install_helpful_packages <package>...
install_helpful_packages() {
  local package refused=()
  for package in "$@"; do
    apt_install "$package" || refused+=("$package")
  done
  if [ ${#refused[@]} -gt 0 ]; then
    echo "set-up: going on without: ${refused[*]}"
    echo "${refused[*]}" >"$root/.deps/$refused_file"
  fi
}

install_missing_system_packages() {
  local required helpful
  required=$(missing_system_packages required | paste -sd ' ')
  helpful=$(missing_system_packages helpful | paste -sd ' ')
  if [ "$(cat "$root/.deps/$refused_file" 2>/dev/null)" = "$helpful" ]; then
    helpful=
  fi
  if [ -z "$required$helpful" ]; then
    return
  fi
  echo "set-up: installing system packages: $required $helpful"
  # shellcheck disable=SC2086  # lists of words
  if [ -n "$required" ] && ! apt_install $required; then
    echo "[SETUP-11] could not install system packages; as root: apt-get install $required" >&2
    exit 1
  fi
  # shellcheck disable=SC2086
  install_helpful_packages $helpful
}
