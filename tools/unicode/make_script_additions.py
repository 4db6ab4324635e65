#!/usr/bin/env python3
"""Writes src/data/text/script_additions.cpp: characters that scripts have got since Unicode 14, the version of the
oldest PCRE2 that we build with, as the `tokenizers` package sees them. Needs that package and Python 3.11."""
import unicodedata
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

SCRIPTS = """Adlam Ahom Arabic Armenian Balinese Bengali Bhaiksuki Bopomofo Brahmi Buginese Canadian_Aboriginal Chakma Cherokee
Common Coptic Cypriot Cyrillic Devanagari Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati
Gurmukhi Han Hangul Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Lao Latin Lisu
Malayalam Mongolian Myanmar Nag_Mundari Newa Nko Oriya Osage Sharada Sinhala Sundanese Syriac Tamil Tangut Telugu Thaana Thai
Tibetan Tifinagh Vai Vithkuqi Yi""".split()


def main():
    assert unicodedata.unidata_version == "14.0.0"
    newer = [c for c in range(0x110000) if unicodedata.category(chr(c)) == "Cn"]
    text = "".join(map(chr, newer))
    rows = []
    for script in SCRIPTS:
        try:
            pieces = pre_tokenizers.Split(Regex(f"\\p{{{script}}}+"), "removed", invert=True).pre_tokenize_str(text)
        except Exception:  # a script that the package does not know
            continue
        for _, (begin, end) in pieces:
            for c in newer[begin:end]:
                if rows and rows[-1][0] == script and rows[-1][2] == c - 1:
                    rows[-1][2] = c
                else:
                    rows.append([script, c, c])
    entries = "\n".join(f'    {{"{s.lower().replace("_", "")}", {{0x{a:X}, 0x{b:X}}}}},' for s, a, b in rows)
    out = Path(__file__).parents[2] / "src/data/text/script_additions.cpp"
    out.write_text("// Written by tools/unicode/make_script_additions.py; facts of the Unicode Character Database.\n"
                   '#include "data/text/script_additions.hpp"\n\n'
                   "namespace monomorph::data::unicode {\nnamespace {\n\nconstexpr ScriptAddition additions[] = {\n"
                   f"{entries}\n}};\n\n}}  // namespace\n\n"
                   "std::span<const ScriptAddition> script_additions() { return additions; }\n\n"
                   "}  // namespace monomorph::data::unicode\n")


main()
