# Which names a folder above the sources may have: what CMake or the loader would misread is refused in one sentence.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
configure() {  # NAME: as far as the language, which is not needed
  mkdir -p "$folder/$1"
  sed '/^project(/q' "$sources/CMakeLists.txt" | sed 's/LANGUAGES CXX/LANGUAGES NONE/' >"$folder/$1/CMakeLists.txt"
  cmake -G Ninja -S "$folder/$1" -B "$folder/$1/build" 2>&1
}

sources=$1
for name in 'a b' 'ä' "it's" 'a$b' 'a+b' 'a(b)' 'a&b' 'a%b'; do
  configure "$name"
done
for name in 'a[b' 'a]b' 'a"b' 'a#b' 'a;b' 'a:b'; do
  if said=$(configure "$name"); then
    echo "accepted: $name" >&2
    exit 1
  fi
  echo "$said"
  grep -q 'SETUP-13' <<<"$said"
done
