"""make_covering_set.py <axes>.hpp <name>.hpp: writes an array `name` of rows in which every pair of values of two axes
meets, but for one that the axes may call impossible. Greedy, with a fixed seed.

Run it where the axes have changed; a test proves the result and names what is missing.
"""
import itertools
import pathlib
import random
import re
import sys

axes_header, output = map(pathlib.Path, sys.argv[1:])
header = axes_header.read_text()
row_type, numbers = re.search(r"constexpr (\w+) \w+_levels\{([0-9, ]+)\}", header).groups()
levels = [int(n) for n in numbers.split(",")]
axes = range(len(levels))
impossible = {tuple(int(n) for n in match.split(",")) for match in re.findall(r"\w+_impossible\{([0-9, ]+)\}", header)}


def pairs_of(row):
    return {(a, row[a], b, row[b]) for a, b in itertools.combinations(axes, 2)}


def is_possible(row):
    return not pairs_of(row) & impossible


def random_row():
    while not is_possible(row := [random.randrange(n) for n in levels]):
        pass
    return row


def improved(row, missing):
    """Each axis in turn takes the value that covers most."""
    for axis in random.sample(axes, len(levels)):
        row = max(filter(is_possible, ([*row[:axis], value, *row[axis + 1:]] for value in range(levels[axis]))),
                  key=lambda candidate: len(pairs_of(candidate) & missing))
    return row


random.seed(1)
missing = {(a, x, b, y) for a, b in itertools.combinations(axes, 2) for x in range(levels[a]) for y in range(levels[b])}
missing -= impossible
rows = []
while missing:
    candidates = [improved(random_row(), missing) for _ in range(20)]
    rows.append(max(candidates, key=lambda row: len(pairs_of(row) & missing)))
    missing -= pairs_of(rows[-1])

lines = "\n".join(f"    {{{', '.join(map(str, row))}}}," for row in rows)
output.write_text(f"""#pragma once
#include "{axes_header.parent.name}/{axes_header.name}"

namespace monomorph::testing {{

// Written by tests/support/make_covering_set.py.
inline constexpr {row_type} {output.stem}[] = {{
{lines}
}};

}}  // namespace monomorph::testing
""")
print(len(rows), "rows")
