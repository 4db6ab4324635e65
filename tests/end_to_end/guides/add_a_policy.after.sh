# The new header compiles alone, as the test `headers` asks of all.
"${CXX:-c++}" -std=c++20 -fsyntax-only -Iinclude -x c++ - <<<'#include <monomorph/checkpointing/last_blocks.hpp>'
