// Written by tools/unicode/make_script_additions.py; facts of the Unicode Character Database.
#include "data/text/script_additions.hpp"

namespace monomorph::data::unicode {
namespace {

constexpr ScriptAddition additions[] = {
    {"arabic", {0x897, 0x897}},
    {"arabic", {0x10EC2, 0x10EC4}},
    {"arabic", {0x10EFC, 0x10EFF}},
    {"balinese", {0x1B4E, 0x1B4F}},
    {"balinese", {0x1B7F, 0x1B7F}},
    {"common", {0x2427, 0x2429}},
    {"common", {0x2FFC, 0x2FFF}},
    {"common", {0x31E4, 0x31E5}},
    {"common", {0x31EF, 0x31EF}},
    {"common", {0x1CC00, 0x1CCF9}},
    {"common", {0x1CD00, 0x1CEB3}},
    {"common", {0x1D2C0, 0x1D2D3}},
    {"common", {0x1F6DC, 0x1F6DC}},
    {"common", {0x1F774, 0x1F776}},
    {"common", {0x1F77B, 0x1F77F}},
    {"common", {0x1F7D9, 0x1F7D9}},
    {"common", {0x1F8B2, 0x1F8BB}},
    {"common", {0x1F8C0, 0x1F8C1}},
    {"common", {0x1FA75, 0x1FA77}},
    {"common", {0x1FA87, 0x1FA89}},
    {"common", {0x1FA8F, 0x1FA8F}},
    {"common", {0x1FAAD, 0x1FAAF}},
    {"common", {0x1FABB, 0x1FABF}},
    {"common", {0x1FAC6, 0x1FAC6}},
    {"common", {0x1FACE, 0x1FACF}},
    {"common", {0x1FADA, 0x1FADC}},
    {"common", {0x1FADF, 0x1FADF}},
    {"common", {0x1FAE8, 0x1FAE9}},
    {"common", {0x1FAF7, 0x1FAF8}},
    {"common", {0x1FBCB, 0x1FBEF}},
    {"cyrillic", {0x1C89, 0x1C8A}},
    {"cyrillic", {0x1E030, 0x1E06D}},
    {"cyrillic", {0x1E08F, 0x1E08F}},
    {"devanagari", {0x11B00, 0x11B09}},
    {"egyptianhieroglyphs", {0x1342F, 0x1342F}},
    {"egyptianhieroglyphs", {0x13439, 0x13455}},
    {"egyptianhieroglyphs", {0x13460, 0x143FA}},
    {"han", {0x2B739, 0x2B739}},
    {"han", {0x2EBF0, 0x2EE5D}},
    {"han", {0x31350, 0x323AF}},
    {"hiragana", {0x1B132, 0x1B132}},
    {"kannada", {0xCF3, 0xCF3}},
    {"katakana", {0x1B155, 0x1B155}},
    {"kawi", {0x11F00, 0x11F10}},
    {"kawi", {0x11F12, 0x11F3A}},
    {"kawi", {0x11F3E, 0x11F5A}},
    {"khojki", {0x1123F, 0x11241}},
    {"lao", {0xECE, 0xECE}},
    {"latin", {0xA7CB, 0xA7CD}},
    {"latin", {0xA7DA, 0xA7DC}},
    {"latin", {0x1DF25, 0x1DF2A}},
    {"myanmar", {0x116D0, 0x116E3}},
    {"nagmundari", {0x1E4D0, 0x1E4F9}},
};

}  // namespace

std::span<const ScriptAddition> script_additions() { return additions; }

}  // namespace monomorph::data::unicode
