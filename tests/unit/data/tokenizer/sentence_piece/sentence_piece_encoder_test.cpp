#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"
#include "support/sentence_piece_file.hpp"
#include "unit/data/adversarial_strings.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <random>

using namespace monomorph::data;
using monomorph::testing::bytes_field, monomorph::testing::group, monomorph::testing::number_field,
    monomorph::testing::piece;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

// That our ids are those of the library, also where the settings of a file are others than those of the fixtures.
namespace {

/// The ids as text, or what went wrong.
template <class Encode> std::string outcome(Encode encode) {
  Ids ids;
  try {
    encode(ids);
  } catch (const monomorph::Error& error) {
    return error.what();
  }
  return json(ids).dump();
}

void check(const SentencePieceModel& model, const std::string& text) {
  const std::string expected = outcome([&](Ids& ids) { model.encode_with_library(text, ids); });
  const std::string found = outcome([&](Ids& ids) { model.encode(text, ids); });
  INFO(json(text).dump());
  CHECK(found == expected);
}

// Put at the end of a file, these change it: of a field that is there twice, the last counts.
std::string training(std::uint64_t field, std::uint64_t value) { return bytes_field(2, number_field(field, value)); }
std::string normalization(std::uint64_t field, bool value) {
  return bytes_field(3, number_field(field, value ? 1 : 0));
}

/// The file without its pieces for bytes, so that what is unknown becomes the unknown id.
std::string without_bytes(std::string_view file) {
  constexpr std::uint64_t byte_type = 6;
  std::string result;
  MessageReader fields(file);
  while (const auto field = fields.next()) {
    bool is_byte = false;
    MessageReader parts(field->number == 1 ? field->bytes : std::string_view());
    while (const auto part = parts.next()) is_byte = is_byte || (part->number == 3 && part->value == byte_type);
    if (!is_byte) result += bytes_field(field->number, field->bytes);
  }
  return result + training(35, 0);
}

std::vector<std::pair<std::string, std::string>> variants_of(const std::string& file) {
  std::vector<std::pair<std::string, std::string>> variants;
  for (int settings = 0; settings < 16; ++settings) {
    variants.emplace_back("settings " + std::to_string(settings),
                          file + normalization(3, settings & 1) + normalization(4, settings & 2) +
                              normalization(5, settings & 4) + training(24, settings & 8 ? 1 : 0));
  }
  const std::string with_spaces = piece(" the", 0, 4) + piece("b\u2581c", 0, 4) + piece("  ", 0, 4) +
                                  piece("\n\u2581", -3, 1) + piece("e o", -2, 1);
  variants.emplace_back("pieces with spaces in them", file + with_spaces);
  variants.emplace_back("the same, without marks", file + with_spaces + normalization(5, false));
  variants.emplace_back("equal scores", file + piece("x q", -5, 1) + piece("xq", -5, 1) + piece("qx", -5, 1));
  variants.emplace_back("unused pieces", file + piece("zx", -1, 5) + piece("xz", -1, 5) + piece("zxz", -1, 1));
  variants.emplace_back("a control piece of one letter", file + piece("\u0416", 0, 3));
  variants.emplace_back("no bytes", without_bytes(file));
  variants.emplace_back("no bytes, spaces kept", without_bytes(file) + normalization(4, false));
  variants.emplace_back("a type without a meaning", file + piece("q\u0416q", -1, 9));
  const std::string piece_of_numbers = bytes_field(1, bytes_field(1, "zq") + number_field(1, 5) + number_field(2, 3));
  variants.emplace_back("groups, which are passed over",
                        group(6, piece("q", -1, 1)) + file + bytes_field(3, group(3, number_field(5, 0))));
  variants.emplace_back("fields written as others are",
                        number_field(1, 4) + file + piece_of_numbers + bytes_field(2, bytes_field(3, "ab")));
  variants.emplace_back("types of more than 32 bits", file + piece("qz", -1, (std::uint64_t{1} << 32) + 4));
  variants.emplace_back("whole words", without_bytes(file) + training(3, 3));
  variants.emplace_back("characters", without_bytes(file) + training(3, 4));
  return variants;
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> fragments{
      "a",      "the",    "b c",          "b\u2581c",     "kingdoms",   " ",
      " ",      "  ",     "   ",          "\n",           "\r\n",       "\t",
      "\u00A0", "\u3000", "\u2581",       "\u2581\u2581", "e\u0301",    "\u0301",
      "\u00DF", "\u2026", "\u4E2D\u6587", "\u0416\u0438", "\U0001F600", "<sep>",
      "<|x|>",  "<s>",    "<unk>",        "<c>",          "<0x41>",     "xq",
      "qx",     "x q",    "zxz",          "zxzx",         "aaaa",       "thethe",
      "the o",  "12",     "!?",           "\x01",         "\xC3",       "\xF0\x9F"};
  std::string text;
  for (std::size_t i = random() % 30; i > 0; --i) text += fragments[random() % fragments.size()];
  return text;
}

constexpr const char* model_files[] = {"unigram.model", "bpe.model"};

}  // namespace

TEST_CASE("SentencePiece: ids of long texts and of strange ones are the library's") {
  for (const std::string name : model_files) {
    INFO(name);
    const SentencePieceModel model(tokenizer_fixture(name));
    check(model, shakespeare());
    const AdversarialStrings strings(shakespeare(), {"<s>", "</s>", "<unk>", "<sep>", "<|x|>", "<c>", "<0x41>"});
    std::string all, no_spaces;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      const std::string text = replace_invalid_utf8(strings.string(seed));
      check(model, text);
      all += text;
    }
    check(model, all);
    std::remove_copy(shakespeare().begin(), shakespeare().end(), std::back_inserter(no_spaces), ' ');
    check(model, no_spaces);
    for (const std::string repeated : {" ", "a", "the", " \n", "\t", "\u00A0 ", "\u4E2D", "<|x|>", "ab  c"}) {
      std::string text;
      while (text.size() < 100'000) text += repeated;
      check(model, text);
    }
  }
}

TEST_CASE("SentencePiece: ids are the library's whatever the settings and pieces of a file") {
  const TemporaryFolder folder;
  std::mt19937 random(4);
  for (const std::string name : model_files) {
    for (const auto& [what, file] : variants_of(monomorph::read_text_file(tokenizer_fixture(name)))) {
      INFO(name << ", " << what);
      const SentencePieceModel model(folder.write("t.model", file));
      for (int i = 0; i < 1000; ++i) check(model, replace_invalid_utf8(random_text(random)));
      check(model, shakespeare().substr(0, 20'000));
    }
  }
}

TEST_CASE("SentencePiece: of a model of nothing but spaces, a stream shows those between what is unknown") {
  const TemporaryFolder folder;
  const Tokenizer tokenizer(
      SentencePieceModel(folder.write("t.model", piece("<unk>", 0, 2) + piece("\u2581", -1, 1) + training(3, 1))));
  const Ids ids = tokenizer.encode("a  b c");
  StreamDecoder stream(tokenizer);
  std::string text;
  for (const std::int32_t id : ids) text += stream.push(id);
  text += stream.finish();
  CHECK(text == tokenizer.decode(ids));
  CHECK(std::ranges::count(text, ' ') > 2);
}
