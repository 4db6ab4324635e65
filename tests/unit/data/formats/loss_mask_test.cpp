#include "unit/data/chat_test_support.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/data/formats/convert.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/prepare/inspect.hpp>
#include <monomorph/data/prepare/merge.hpp>
#include <monomorph/data/prepare/shuffle.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

using namespace monomorph::data;
using monomorph::ignored_target;

namespace {

struct Copy {
  TemporaryFolder folder;
  std::string tokens = folder.write("a.pbin", monomorph::read_text_file(chat_fixture("set.pbin")));
  std::string mask = folder.write("a.mask", monomorph::read_text_file(chat_fixture("set.mask")));

  std::string refusal() const {
    return error_of([&] { LossMask::beside(PackedFile(tokens)); });
  }
};

}  // namespace

TEST_CASE("A mask written by another program is read, and hides the targets that do not count") {
  const PackedFile file(chat_fixture("set.pbin"));
  const LossMask mask = LossMask::beside(file).value();
  CHECK(mask.header().n_tokens == 385);
  CHECK(mask.header().n_counted == 122);
  CHECK(mask.header().sequence_length == 48);
  std::vector<std::int32_t> ids(385), targets(385);
  file.read(0, ids);
  targets = ids;
  mask.apply(0, targets);
  int n_counted = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK((targets[i] == ids[i] || targets[i] == ignored_target));
    CHECK((targets[i] != ignored_target) == mask.counts(static_cast<std::int64_t>(i)));
    n_counted += targets[i] != ignored_target;
  }
  CHECK(n_counted == 122);
  for (const std::size_t first : {1u, 7u, 48u, 200u}) {
    std::vector<std::int32_t> part(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end());
    mask.apply(static_cast<std::int64_t>(first), part);
    CHECK(std::equal(part.begin(), part.end(), targets.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  CHECK(error_of([&] { mask.check_samples(48, LastTarget::reused); }).empty());
  CHECK(contains(error_of([&] { mask.check_samples(64, LastTarget::reused); }), "[CHAT-12]"));
}

TEST_CASE("A set without a mask has none") {
  Copy copy;
  std::filesystem::remove(copy.mask);
  CHECK_FALSE(LossMask::beside(PackedFile(copy.tokens)).has_value());
  CHECK(loss_mask_path("a/b.pbin") == "a/b.mask");
  CHECK(loss_mask_path("a/b.v1") == "a/b.v1.mask");
}

TEST_CASE("A damaged mask is refused") {
  const std::string whole = monomorph::read_text_file(chat_fixture("set.mask"));
  Copy copy;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    copy.folder.write("a.mask", whole.substr(0, size));
    REQUIRE(contains(copy.refusal(), "[CHAT-10]"));
  }
  copy.folder.write("a.mask", whole + "x");
  CHECK(contains(copy.refusal(), "[CHAT-10]"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    copy.folder.write("a.mask", changed);
    INFO(at);
    CHECK(contains(copy.refusal(), "[CHAT-1"));
  }
  std::string huge = whole;
  for (std::size_t at = 16; at < 24; ++at) huge[at] = '\xff';
  copy.folder.write("a.mask", huge);
  CHECK(contains(copy.refusal(), "[CHAT-11]"));
}

TEST_CASE("A mask that has counted otherwise is refused, though its hash is right") {
  const std::string whole = monomorph::read_text_file(chat_fixture("set.mask"));
  Copy copy;
  const LossMask mask = LossMask::beside(PackedFile(copy.tokens)).value();
  for (const std::uint64_t n_counted : {std::uint64_t{121}, std::uint64_t{1} << 63}) {
    LossMaskHeader header = mask.header();
    header.n_counted = n_counted;
    const std::string bits = whole.substr(loss_mask_header_bytes);
    monomorph::Xxh64 bits_hash;
    bits_hash.update(std::as_bytes(std::span(bits)));
    header.hash = hash_of(header, bits_hash);
    const auto bytes = to_bytes(header);
    copy.folder.write("a.mask", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) + bits);
    const std::string refusal = copy.refusal();
    CHECK((contains(refusal, "[CHAT-10]") && contains(refusal, "and 122 do")));
  }
}

TEST_CASE("The mask of other tokens is refused") {
  Copy copy;
  std::string tokens = monomorph::read_text_file(copy.tokens);
  tokens[20] = static_cast<char>(tokens[20] ^ 1);
  copy.folder.write("a.pbin", tokens);
  CHECK(contains(copy.refusal(), "[CHAT-11]"));
  copy.folder.write("a.pbin", monomorph::read_text_file(fixture("modalities/small.pbin")));
  CHECK(contains(copy.refusal(), "[CHAT-11]"));
  CHECK(contains(copy.refusal(), "it is for 385 tokens"));
}

TEST_CASE("A mask knows the tokenizer of its chats, whose added tokens count wherever their ids lie") {
  const LossMask mask = LossMask::beside(PackedFile(chat_fixture("set.pbin"))).value();
  TokenizerDefinition definition = read_tokenizer_definition(chat_fixture("tokenizer.json"));
  mask.check_tokenizer(definition, "t.json");
  const std::uint64_t before = fingerprint(definition);
  definition.added_tokens.push_back({.content = "<a>", .id = 802});
  const std::uint64_t with_added = fingerprint(definition);
  CHECK(with_added != before);
  definition.added_tokens.back().content = "<b>";
  CHECK(fingerprint(definition) != with_added);
  const std::string error = error_of([&] { mask.check_tokenizer(definition, "t.json"); });
  CHECK((contains(error, "[CHAT-15]") && contains(error, "set.mask") && contains(error, "t.json")));
  std::swap(definition.vocabulary[700], definition.vocabulary[701]);
  definition.added_tokens.pop_back();
  CHECK(fingerprint(definition) != before);
}

TEST_CASE("Commands that would lose a mask refuse its set") {
  Copy copy;
  const std::string output = copy.folder.file("out.pbin");
  CHECK(contains(error_of([&] { merge({copy.tokens}, output); }), "[CHAT-14]"));
  CHECK(contains(error_of([&] { shuffle(copy.tokens, output, {}); }), "[CHAT-14]"));
  CHECK(contains(error_of([&] { convert(copy.tokens, output, {.bytes_per_token = 4}); }), "[CHAT-14]"));
  CHECK(copy.folder.n_entries() == 2);
  CHECK(error_of([&] { read_statistics(copy.tokens); }).empty());
  std::filesystem::remove(copy.mask);
  CHECK(error_of([&] { merge({copy.tokens}, output); }).empty());
}
