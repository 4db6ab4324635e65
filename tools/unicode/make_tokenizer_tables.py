#!/usr/bin/env python3
"""Writes src/data/text/unicode_tables.cpp: what the parts of the `tokenizers` package see in each code point.

Needs the packages tokenizers and unicodedata2. The package is asked about every code point; unicodedata2 only says
where to look for characters that the package's normal forms do not know yet.
"""
import sys
from pathlib import Path

import unicodedata2
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
ALL = "".join(map(chr, CODE_POINTS))
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
STARTER = "a"


def ranges(members):
    result = []
    for c in sorted(members):
        if result and result[-1][1] == c - 1:
            result[-1][1] = c
        else:
            result.append([c, c])
    return result


def removed_by(pre_tokenizer):
    kept = set()
    for _, (begin, end) in pre_tokenizer.pre_tokenize_str(ALL):
        kept.update(CODE_POINTS[begin:end])
    return set(CODE_POINTS) - kept


def matching(pattern):
    return removed_by(pre_tokenizers.Split(Regex(pattern), "removed"))


def words():
    lines = " ".join(STARTER + chr(c) for c in CODE_POINTS)
    pieces = pre_tokenizers.Whitespace().pre_tokenize_str(lines)
    return {ord(piece[1]) for piece, _ in pieces if len(piece) == 2 and piece[0] == STARTER}


def numeric():
    digits = pre_tokenizers.Digits(individual_digits=True)
    candidates = [c for c in CODE_POINTS if unicodedata2.category(chr(c))[0] == "N"]
    return {c for c in candidates if len(digits.pre_tokenize_str(STARTER + chr(c))) == 2}


def by_line(normalizer):
    """What the normalizer makes of each code point alone; those that end lines are left out."""
    asked = [c for c in CODE_POINTS if c not in (0x0A, 0x0D, 0x85, 0x2028, 0x2029)]
    lines = normalizer.normalize_str("\n".join(map(chr, asked))).split("\n")
    assert len(lines) == len(asked)
    return dict(zip(asked, lines))


def unknown_to_normalizer():
    unknown = set()
    composites_of_second, composites_of_first = {}, {}
    for python_form, normalizer in (("NFD", normalizers.NFD()), ("NFKD", normalizers.NFKD())):
        for c, text in by_line(normalizer).items():
            if unicodedata2.normalize(python_form, chr(c)) != text:
                assert text == chr(c), hex(c)
                unknown.add(c)
    overlay = "\u0334"  # of the lowest class but 0: what has a class changes places with it
    for c in CODE_POINTS:
        if unicodedata2.combining(chr(c)) > 1 and normalizers.NFD().normalize_str(chr(c) + overlay)[0] == chr(c):
            unknown.add(c)
        decomposition = unicodedata2.normalize("NFD", chr(c))
        if len(decomposition) == 2 and unicodedata2.normalize("NFC", decomposition) == chr(c):
            knows = normalizers.NFC().normalize_str(decomposition) == chr(c)
            composites_of_first.setdefault(decomposition[0], []).append(knows)
            composites_of_second.setdefault(decomposition[1], []).append((knows, decomposition[0]))
    for second, composites in composites_of_second.items():
        if not any(knows for knows, _ in composites):
            unknown.add(ord(second))
            continue
        for knows, first in composites:
            if not knows:
                assert not any(composites_of_first[first]), hex(ord(first))
                unknown.add(ord(first))
    return unknown


def lower_case_runs():
    """(first, last, step, difference): code points with a lower case of their own."""
    runs = []
    for c, lower in by_line(normalizers.Lowercase()).items():
        if lower == chr(c) or len(lower) != 1:
            continue
        difference = ord(lower) - c
        if runs and runs[-1][3] == difference:
            first, last, step, _ = runs[-1]
            if c - last <= 2 and (step in (0, c - last)):
                runs[-1] = (first, c, c - last, difference)
                continue
        runs.append((c, c, 0, difference))
    return [(first, last, step or 1, difference) for first, last, step, difference in runs]


def wrapped(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 120:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return "\n".join(lines + [line])


def set_function(name, members):
    entries = wrapped(f"{{0x{a:X}, 0x{b:X}}}" for a, b in ranges(members))
    return (f"const CodePointSet& {name}() {{\n  static const CodePointSet set{{\n{entries}\n  }};\n"
            "  return set;\n}\n")


def main():
    categories = []
    for name in CATEGORIES:
        categories += [(a, b, name) for a, b in ranges(matching(f"\\p{{{name}}}"))]
    categories.sort()
    bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    clean = normalizers.BertNormalizer(**{**bert, "clean_text": True}).normalize_str
    cleaned = set(map(ord, clean(ALL)))
    white_space = removed_by(pre_tokenizers.WhitespaceSplit())
    assert white_space == matching(r"\s")
    accents = by_line(normalizers.BertNormalizer(**{**bert, "strip_accents": True}))
    unmarked = set(map(ord, normalizers.StripAccents().normalize_str(ALL)))
    sets = {
        "white_space": white_space,
        "word": words(),
        "pattern_word": matching(r"\w"),
        "numeric": numeric(),
        "punctuation": removed_by(pre_tokenizers.Punctuation("removed")),
        "bert_control": set(CODE_POINTS) - cleaned - {c for c in white_space if clean(chr(c)) == " "},
        "bert_accent": {c for c, text in accents.items() if not text},
        "combining_mark": set(CODE_POINTS) - unmarked,
        "unknown_to_normalizer": unknown_to_normalizer(),
    }
    for name, members in sets.items():
        print(name, len(members), len(ranges(members)), file=sys.stderr)
    if sets["word"] == sets["pattern_word"]:
        print("both \\w are the same", file=sys.stderr)
    runs = lower_case_runs()
    multiple = {hex(c): t for c, t in by_line(normalizers.Lowercase()).items() if len(t) > 1}
    print("lower case of two characters:", multiple, len(runs), file=sys.stderr)
    print("categories", len(categories), file=sys.stderr)
    out = Path(__file__).parents[2] / "src/data/text/unicode_tables.cpp"
    text = ("// Written by tools/unicode/make_tokenizer_tables.py; facts of the Unicode Character Database.\n"
            '#include "data/text/unicode_tables.hpp"\n\n#include <iterator>\n\n'
            "namespace monomorph::data::unicode {\n"
            "namespace {\n\nconstexpr CategoryRange categories[] = {\n"
            + wrapped(f'{{0x{a:X}, 0x{b:X}, {{\'{n[0]}\', \'{n[1]}\'}}}}' for a, b, n in categories)
            + "\n};\n\nconstexpr LowerCaseRun runs[] = {\n"
            + wrapped(f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}" for a, b, s, d in runs)
            + "\n};\n\n}  // namespace\n\n"
            "std::span<const CategoryRange> category_ranges() { return categories; }\n\n"
            "std::span<const LowerCaseRun> lower_case_runs() { return runs; }\n\n"
            + "\n".join(set_function(n, m) for n, m in sets.items())
            + "\n}  // namespace monomorph::data::unicode\n")
    out.write_text(text)


main()
