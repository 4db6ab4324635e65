#include "data/tokenizer/sentence_piece/protocol_buffer.hpp"
#include "support/sentence_piece_file.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/tokenizer/sentence_piece/sentence_piece_model.hpp>

#include <random>

using namespace monomorph::data;
using monomorph::testing::bytes_field, monomorph::testing::group, monomorph::testing::number_field,
    monomorph::testing::varint;
using Ids = std::vector<std::int32_t>;
using Kind = SentencePieceModel::Kind;

// That the ids of many texts equal the reference's is in tokenizer_equality_test.cpp.
namespace {

Ids ids_of(const SentencePieceModel& model, std::string_view text) {
  Ids ids{-7};  // is appended to
  model.encode(text, ids);
  ids.erase(ids.begin());
  return ids;
}

}  // namespace

TEST_CASE("SentencePiece: a vocabulary with its kinds of pieces") {
  const SentencePieceModel model(tokenizer_fixture("bpe.model"));
  CHECK(model.vocab_size() == 1500);
  CHECK(model.piece(1) == "<s>");
  CHECK(model.kind(0) == Kind::unknown);
  CHECK(model.kind(1) == Kind::control);
  CHECK(model.kind(model.find("<c>").value()) == Kind::control);
  CHECK(model.kind(model.find("<|x|>").value()) == Kind::text);
  CHECK(model.kind(model.find("<0x0A>").value()) == Kind::byte);
  CHECK(model.begin_id() == 1);
  CHECK(model.end_id() == 2);
  CHECK(model.find("<unk>") == 0);
  CHECK_FALSE(model.find("no such piece"));
  CHECK(contains(error_of([&] { model.piece(1500); }), "[TOK-04]"));
  CHECK(contains(error_of([&] { model.kind(-1); }), "[TOK-04]"));
  CHECK(contains(error_of([&] { model.decode(Ids{1500}); }), "[TOK-04]"));
}

TEST_CASE("SentencePiece: text comes back, broken UTF-8 as the replacement character") {
  const SentencePieceModel model(tokenizer_fixture("bpe.model"));
  const std::string text = "  What  for?\n\xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80<|x|> ";
  CHECK(model.decode(ids_of(model, text)) == text);
  CHECK(model.decode(ids_of(model, "a\xF0\x9F\x98z\xFF")) == "a\xEF\xBF\xBDz\xEF\xBF\xBD");
  CHECK(ids_of(model, "").empty());
  // Control pieces in the text are text, and as ids they show nothing.
  CHECK(model.decode(ids_of(model, "<c>")) == "<c>");
  CHECK(model.decode(Ids{1, model.find("<c>").value(), 2}) == "");
}

TEST_CASE("SentencePiece: a file that is no model is one error, never a crash") {
  TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    const std::string path = folder.write("t.model", bytes);
    return error_of([&] {
      const SentencePieceModel model(path);
      model.decode(ids_of(model, "Hello World, \xC3\x89 1234"));
    });
  };
  const std::string good = monomorph::read_text_file(tokenizer_fixture("unigram.model"));
  CHECK(error(good) == "");
  for (const std::string& bytes :
       {std::string(), std::string("{}"), std::string(1000, '\0'), good.substr(0, good.size() / 2)}) {
    const std::string message = error(bytes);
    INFO(message);
    CHECK((contains(message, "[TOK-44]") && contains(message, "t.model") && !contains(message, "\n")));
  }
  CHECK(contains(error_of([] { SentencePieceModel("/nonexistent.model"); }), "[FILE-01]"));
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    std::string damaged = good;
    for (int change = 0; change <= i % 4; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string message = error(damaged);
    INFO(message);
    CHECK((message.empty() || contains(message, "[TOK-4")));
  }
}

TEST_CASE("SentencePiece: a character map that points beyond itself is refused before the library follows it") {
  TemporaryFolder folder;
  std::string model = monomorph::read_text_file(tokenizer_fixture("unigram.model"));
  std::string_view map;
  MessageReader fields(model);
  while (const auto field = fields.next()) {
    MessageReader settings(field->number == 3 ? field->bytes : std::string_view());
    while (const auto setting = settings.next()) {
      if (setting->number == 2) map = setting->bytes;
    }
  }
  REQUIRE(map.size() > 1000);
  const auto table = static_cast<std::size_t>(map.data() - model.data()) + 4;
  for (const char byte : {'\x7F', '\xFF'}) {  // the root's offset; with its highest bit it would be a value
    for (int i = 0; i < 4; ++i) model[table + static_cast<std::size_t>(i)] = byte;
    const std::string path = folder.write("t.model", model);
    CHECK(contains(error_of([&] { SentencePieceModel unused(path); }), "[TOK-43]"));
  }
}

TEST_CASE("SentencePiece: what the library passes over hides no damaged character map from the check") {
  TemporaryFolder folder;
  const std::string good = monomorph::read_text_file(tokenizer_fixture("unigram.model"));
  const std::string map("\x08\0\0\0\1\2", 6);
  const std::string settings = bytes_field(2, map);
  const std::uint64_t beyond_a_tag = std::uint64_t{1} << 32;  // of which five bytes hold three bits
  const std::string length = varint(settings.size());
  for (const std::string& hidden :
       {group(6, "") + bytes_field(3, settings), group(7, group(6, number_field(1, 2))) + bytes_field(3, settings),
        bytes_field(3, group(9, bytes_field(1, "x")) + settings), varint(beyond_a_tag | 3 << 3 | 2) + length + settings,
        number_field(3, 7) + bytes_field(5, settings)}) {
    const std::string path = folder.write("t.model", hidden + good);
    CHECK(contains(error_of([&] { SentencePieceModel unused(path); }), "[TOK-43]"));
  }
}

TEST_CASE("SentencePiece: a message that is broken behind a group, or in the normaliser's settings, is refused") {
  TemporaryFolder folder;
  const std::string good = monomorph::read_text_file(tokenizer_fixture("unigram.model"));
  const std::string begin = varint(6 << 3 | 3), end = varint(6 << 3 | 4);
  for (const std::string& broken :
       {good + begin, good + end, good + begin + begin + end, good + std::string(1, '\0'), good + bytes_field(3, begin),
        good + bytes_field(5,
                           "\x12\x7F"
                           "short")}) {
    const std::string path = folder.write("t.model", broken);
    CHECK(contains(error_of([&] { SentencePieceModel unused(path); }), "[TOK-44]"));
  }
}
