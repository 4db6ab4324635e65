# Sourced by install. Packages go into folders of .deps/. A folder is filled beside its place and renamed when complete,
# with a file that says what is in it: what was killed half-way, or is of another version, is done again.

stamp_name=.monomorph-installed

# has_python_packages <folder> <requirement>: was it installed, with whatever else?
has_python_packages() {
  grep -qxF -- "$2" "$root/.deps/$1/$stamp_name" 2>/dev/null
}

# install_python_packages <folder> <what it is, for people> [<pip option>...] -- <requirement>... [-- <requirement>...]
# Each list of requirements, which may begin with options, is one call of pip.
install_python_packages() {
  local folder=$root/.deps/$1 what=$2 common=() wanted
  shift 2
  while [ "$1" != -- ]; do
    common+=("$1")
    shift
  done
  shift
  wanted=$(printf '%s\n' "$@")
  if [ "$(cat "$folder/$stamp_name" 2>/dev/null)" = "$wanted" ]; then
    return
  fi
  need_pip
  echo "set-up: installing $what into .deps/${folder##*/} (once; nothing outside the project's folder is touched)"
  rm -rf "$folder".partial
  mkdir -p "$folder".partial/tmp
  local requirements=()
  while [ $# -gt 0 ]; do
    requirements=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
      requirements+=("$1")
      shift
    done
    shift || true
    if ! PIP_USER=0 TMPDIR=$folder.partial/tmp python3 -m pip install --only-binary=:all: --no-compile --disable-pip-version-check \
        --no-warn-script-location --root-user-action=ignore --target "$folder".partial "${common[@]}" "${requirements[@]}"; then
      rm -rf "$folder".partial
      echo "[SETUP-12] pip could not install ${requirements[*]} (see above); check the network and the free disk space, then run this again" >&2
      exit 1
    fi
  done
  rm -rf "$folder".partial/tmp
  printf '%s\n' "$wanted" >"$folder".partial/$stamp_name
  rm -rf "$folder"
  mv "$folder".partial "$folder"
}

need_pip() {
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "set-up: installing system packages: python3 python3-pip"
    if ! apt_install python3 python3-pip; then
      echo "[SETUP-11] could not install system packages; as root: apt-get install python3 python3-pip" >&2
      exit 1
    fi
  fi
}
