# tools/ci/check-tidy takes our sources, and no precompiled header, whatever the folders above are called.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
project="$folder/src/a project [ä]"
mkdir -p "$project"/{tools/ci,build/ci} "$folder/bin"
cp "$1/tools/ci/check-tidy" "$project/tools/ci"
for file in src/core/one.cpp tests/unit/core/two.cpp bench/three.cpp build/ci/version.cpp; do
  printf '"command": "c++ -Winvalid-pch -include \\"%s/build/cmake_pch.hxx\\" -c x",\n"file": "%s",\n' "$project" "$project/$file"
done >"$project/build/ci/compile_commands.json"
cat >"$folder/bin/clang-tidy-14" <<'EOF'
#!/usr/bin/env bash
if [ "$1" = --version ]; then
  echo "version 14.0"
  exit
fi
cp "$2/compile_commands.json" "$CALLS.commands"  # clang-tidy -p FOLDER ... FILE
echo "${*: -1}" >>"$CALLS"
EOF
chmod +x "$folder/bin/clang-tidy-14"

CALLS=$folder/calls PATH=$folder/bin:$PATH "$project/tools/ci/check-tidy"
sort "$folder/calls"
[ "$(sort "$folder/calls")" = "$(printf '%s\n' "$project/src/core/one.cpp" "$project/tests/unit/core/two.cpp")" ]
[ "$(grep -c 'c++ -c x' "$folder/calls.commands")" = 4 ]
