#!/usr/bin/env python3
"""Writes include/monomorph/rule/near_miss_names.hpp: what is one slip away from the name of a recipe's member.

Run it where the names here change; tests/unit/plan/near_miss_names_test.cpp proves the result.
"""
import pathlib
import string
import textwrap

HEADER = pathlib.Path(__file__).resolve().parents[2] / "include/monomorph/rule/near_miss_names.hpp"
NAMES = ["model", "sharding", "precision", "checkpointing", "optimizer", "objective", "attention", "mesh", "layers",
         "budget", "expect"]
ABOVE = """\
#pragma once

/// Names that are no member of a recipe but one slip away from one: a letter left out, put in, replaced by another, or
/// exchanged with its neighbour. C++20 cannot list a type's members, so a rule looks for these (rule/member_rules.hpp).
/// Written by tools/rules/make_near_miss_names.py. X(name) is expanded for each.

// clang-format off
"""


def slips(name: str) -> list[str]:
    places = range(len(name))
    left_out = [name[:i] + name[i + 1:] for i in places]
    exchanged = [name[:i] + name[i + 1] + name[i] + name[i + 2:] for i in places[:-1]]
    replaced = [name[:i] + letter + name[i + 1:] for i in places for letter in string.ascii_lowercase]
    put_in = [name[:i] + letter + name[i:] for i in range(len(name) + 1) for letter in string.ascii_lowercase]
    return [slip for slip in dict.fromkeys(left_out + exchanged + replaced + put_in) if slip not in NAMES]


def define(macro: str, expansions: list[str]) -> str:
    lines = textwrap.wrap(" ".join(expansions), 116, break_long_words=False)
    return f"#define {macro}(X) \\\n  " + " \\\n  ".join(lines) + "\n"


def main() -> None:
    text = ABOVE
    for name in NAMES:
        text += define(f"MONOMORPH_NEAR_MISSES_{name.upper()}", [f"X({slip})" for slip in slips(name)])
    text += "\n" + define("MONOMORPH_NEAR_MISSES", [f"MONOMORPH_NEAR_MISSES_{name.upper()}(X)" for name in NAMES])
    HEADER.write_text(text + "// clang-format on\n")


if __name__ == "__main__":
    main()
