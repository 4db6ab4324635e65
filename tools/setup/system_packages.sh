# Sourced by install. Looks for the things themselves, not for packages, so that any system that has them will do.

# Prints the Debian packages of what is missing. $1: required, or helpful (the build works without it).
missing_system_packages() {
  local command
  if [ "$1" = helpful ]; then
    for command in ccache mold; do
      command -v "$command" >/dev/null || echo "$command"
    done
    if $for_tests && ! command -v clang++ >/dev/null; then
      echo clang
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

# One run of the preprocessor asks for all headers; without a compiler, all are taken for missing.
missing_headers() {
  local headers=(boost/hana.hpp:libboost-dev nlohmann/json.hpp:nlohmann-json3-dev CLI/CLI.hpp:libcli11-dev
    utf8proc.h:libutf8proc-dev pcre2.h:libpcre2-dev sentencepiece_processor.h:libsentencepiece-dev
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

# apt_install <package>...: quiet, with the output kept for the case of failure.
apt_install() {
  local log
  log=$(mktemp)
  command -v apt-get >/dev/null || return 1
  if as_root env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -q && apt-get install -qy --no-install-recommends "$@"' \
      sh "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
  fi
}

refused=helpful-packages-refused  # what is only helpful is asked for once

install_missing_system_packages() {
  local required helpful
  required=$(missing_system_packages required | paste -sd ' ')
  helpful=$(missing_system_packages helpful | paste -sd ' ')
  if [ "$(cat "$root/.deps/$refused" 2>/dev/null)" = "$helpful" ]; then
    helpful=
  fi
  if [ -n "$required$helpful" ]; then
    echo "set-up: installing system packages: $required $helpful"
    # shellcheck disable=SC2086  # lists of words
    if ! apt_install $required $helpful; then
      if [ -n "$required" ]; then
        echo "[SETUP-11] could not install system packages; as root: apt-get install $required" >&2
        exit 1
      fi
      echo "set-up: going on without: $helpful"
      echo "$helpful" >"$root/.deps/$refused"
    fi
  fi
}
