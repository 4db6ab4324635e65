# The policy's header compiles alone, as the test `headers` asks of ours, and its rule is judged.
"${CXX:-c++}" -std=c++20 -fsyntax-only -Iinclude -x c++ - <<<'#include "experiments/last_blocks.hpp"'
if "${CXX:-c++}" -std=c++20 -fsyntax-only -Iinclude -x c++ - 2> broken.txt << 'END'
#include "recipes/tiny_gpt2.hpp"
#include "experiments/last_blocks.hpp"
struct broken : recipes::tiny_gpt2 {
  using checkpointing = my::LastBlocks<3, 2>;
};
static_assert(monomorph::admit<broken>());
END
then
  echo "LastBlocks<3, 2> was accepted" && exit 1
fi
grep -q 'error: .*\[MY-01\] LastBlocks<n, n_layers>' broken.txt
