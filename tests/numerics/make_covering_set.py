"""Writes covering_set.hpp: rows in which every pair of values of two axes meets. Greedy, with a fixed seed.

Run it where the axes in model_axes.hpp have changed; a test proves the result and names what is missing.
"""
import itertools
import pathlib
import random
import re

folder = pathlib.Path(__file__).parent
line = re.search(r"axis_levels\{([0-9, ]+)\}", (folder / "model_axes.hpp").read_text())
levels = [int(n) for n in line.group(1).split(",")]
axes = range(len(levels))


def pairs_of(row):
    return {(a, row[a], b, row[b]) for a, b in itertools.combinations(axes, 2)}


def improved(row, missing):
    """Each axis in turn takes the value that covers most."""
    for axis in random.sample(axes, len(levels)):
        row = max(([*row[:axis], value, *row[axis + 1:]] for value in range(levels[axis])),
                  key=lambda candidate: len(pairs_of(candidate) & missing))
    return row


random.seed(1)
missing = {(a, x, b, y) for a, b in itertools.combinations(axes, 2) for x in range(levels[a]) for y in range(levels[b])}
rows = []
while missing:
    candidates = [improved([random.randrange(n) for n in levels], missing) for _ in range(20)]
    rows.append(max(candidates, key=lambda row: len(pairs_of(row) & missing)))
    missing -= pairs_of(rows[-1])

lines = "\n".join(f"    {{{', '.join(map(str, row))}}}," for row in rows)
(folder / "covering_set.hpp").write_text(f"""#pragma once
#include "numerics/model_axes.hpp"

namespace monomorph::testing {{

// Written by make_covering_set.py.
inline constexpr Row covering_set[] = {{
{lines}
}};

}}  // namespace monomorph::testing
""")
print(len(rows), "rows")
