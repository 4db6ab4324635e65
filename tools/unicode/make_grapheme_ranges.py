#!/usr/bin/env python3
"""Writes src/data/text/grapheme_ranges.cpp; needs the package regex 2025.11.3, whose tables are Unicode 17's."""

import pathlib

import regex

CLASSES = {  # the last that matches counts
    "control": r"\p{GCB=Control}",
    "carriage_return": r"\r",
    "line_feed": r"\n",
    "prepend": r"\p{GCB=Prepend}",
    "spacing_mark": r"\p{GCB=SpacingMark}",
    "regional_indicator": r"\p{GCB=Regional_Indicator}",
    "pictographic": r"\p{Extended_Pictographic}",
    "indic_consonant": r"\p{InCB=Consonant}",
    "hangul_l": r"\p{GCB=L}",
    "hangul_v": r"\p{GCB=V}",
    "hangul_t": r"\p{GCB=T}",
    "extend_unlinked": r"\p{GCB=Extend}",
    "extend": r"\p{InCB=Extend}",
    "extend_linker": r"\p{InCB=Linker}",
    "joiner": r"\u200D",
}
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
SURROGATES = range(0xD800, 0xE000)


def ranges():
    patterns = [(name, regex.compile(pattern)) for name, pattern in reversed(CLASSES.items())]
    result = []
    for code_point in range(0x110000):
        if code_point in HANGUL_SYLLABLES or code_point in SURROGATES:
            continue
        name = next((name for name, pattern in patterns if pattern.match(chr(code_point))), None)
        if name and result and result[-1][1:] == [code_point - 1, name]:
            result[-1][1] = code_point
        elif name:
            result.append([code_point, code_point, name])
    return result


def main():
    entries = [f"{{0x{first:04X}, 0x{last:04X}, {name}}}," for first, last, name in ranges()]
    lines = "\n".join("    " + " ".join(entries[i : i + 3]) for i in range(0, len(entries), 3))
    source = f"""// Made by tools/unicode/make_grapheme_ranges.py from Unicode 17.
#include "data/text/grapheme_ranges.hpp"

namespace monomorph::data {{
namespace {{

using enum GraphemeClass;

// clang-format off
constexpr GraphemeRange ranges[] = {{
{lines}
}};
// clang-format on

}}  // namespace

std::span<const GraphemeRange> grapheme_ranges() {{ return ranges; }}

}}  // namespace monomorph::data
"""
    root = pathlib.Path(__file__).resolve().parents[2]
    (root / "src/data/text/grapheme_ranges.cpp").write_text(source)


main()
