# The test of include directions says where a folder includes what it may not, what forms a cycle, and what is not listed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check() { python3 "$1/tests/support/check_include_directions.py" "$folder"; }
refuse() {  # refuse SOURCES LINE...: the lines, and nothing else
  local expected
  expected=$(printf '%s\n' "${@:2}")
  if said=$(check "$1") || [ "$said" != "$expected" ]; then
    printf 'expected:\n%s\nbut it said:\n%s\n' "$expected" "$said" >&2
    exit 1
  fi
}
mkdir -p "$folder"/{docs,src/data/text,include/monomorph/core}
cat >"$folder/docs/architecture.md" <<'PAGE'
| folder | holds | may include |
|---|---|---|
| `core` | files | std |
| `policy` `models` | concepts | `core` |
| **firewall** | | |
| `data/text` | characters | `models` |
| `recipe.hpp` | the gate | `policy` |
PAGE
cd "$folder"
mkdir include/monomorph/{policy,models}
echo '#pragma once' | tee include/monomorph/{core/error,models/gpt2}.hpp >src/data/text/utf8.hpp
echo '#include <monomorph/core/error.hpp>' >include/monomorph/policy/sharding.hpp
echo '#include <monomorph/policy/sharding.hpp>' >include/monomorph/recipe.hpp
printf '#include "%s"\n' data/text/utf8.hpp utf8.hpp | cat - include/monomorph/policy/sharding.hpp >src/data/text/utf8.cpp
check "$1"  # what is below a row's folders is the row's, too

echo '#include <monomorph/policy/sharding.hpp>' >>src/data/text/utf8.cpp
refuse "$1" 'data/text may not include policy: src/data/text/utf8.cpp:4 includes include/monomorph/policy/sharding.hpp; move what it needs, or change the table of docs/architecture.md'
sed -i '$d' src/data/text/utf8.cpp

echo '#include <monomorph/recipe.hpp>' >>include/monomorph/core/error.hpp
refuse "$1" 'includes form a cycle of folders, core -> recipe.hpp -> policy -> core; turn one of them:' \
  '  include/monomorph/core/error.hpp:2 includes include/monomorph/recipe.hpp' \
  '  include/monomorph/recipe.hpp:1 includes include/monomorph/policy/sharding.hpp' \
  '  include/monomorph/policy/sharding.hpp:1 includes include/monomorph/core/error.hpp' \
  'core may not include recipe.hpp: include/monomorph/core/error.hpp:2 includes include/monomorph/recipe.hpp; move what it needs, or change the table of docs/architecture.md'
sed -i '$d' include/monomorph/core/error.hpp

mkdir src/data/bpe
echo '#include "data/text/utf8.hpp"' >src/data/bpe/merge.cpp
rm include/monomorph/models/gpt2.hpp
refuse "$1" 'folder data/bpe is not in the table of docs/architecture.md; add a row with what it holds and may include' \
  'folder models in the table of docs/architecture.md is not there; remove its row'

rm -r src/data/bpe
sed -i 's/`policy` `models`/`policy`/; s/| std |/| `recipe.hpp` |/' docs/architecture.md
refuse "$1" 'the row of core in the table of docs/architecture.md names recipe.hpp, which is no row above it; move the row' \
  'the row of data/text in the table of docs/architecture.md names models, which is no row above it; move the row' \
  'data/text may not include core: src/data/text/utf8.cpp:3 includes include/monomorph/core/error.hpp; move what it needs, or change the table of docs/architecture.md'
