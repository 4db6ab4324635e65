"""make_covering_set.py <axes>.hpp <name>.hpp: writes an array `name` of rows in which every pair of values of two axes
meets, but for those that the axes may call impossible. Greedy, the shortest of a few tries with fixed seeds.

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
listed = re.search(r"_impossible\[\] = \{(.*?)\};", header, re.DOTALL)
impossible = {tuple(map(int, pair)) for pair in re.findall(r"\{(\d+), (\d+), (\d+), (\d+)\}", listed[1] if listed else "")}
every_pair = {(a, x, b, y) for a, b in itertools.combinations(axes, 2) for x in range(levels[a]) for y in range(levels[b])}


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


def covering_rows(seed):
    random.seed(seed)
    missing = every_pair - impossible
    rows = []
    while missing:
        candidates = [improved(random_row(), missing) for _ in range(100)]
        rows.append(max(candidates, key=lambda row: len(pairs_of(row) & missing)))
        missing -= pairs_of(rows[-1])
    return rows


rows = min(map(covering_rows, range(1, 6)), key=len)
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
