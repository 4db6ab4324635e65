#include "unit/data/set_test_support.hpp"

#include <monomorph/data/formats/convert.hpp>

using namespace monomorph::data;

namespace {

constexpr std::int64_t gpt2_end = 50256, llama3_end = 128001;

/// The rule of make_token_formats.py.
Documents reference_documents(std::int64_t end) {
  Documents documents;
  for (std::int64_t d = 0; d < 20; ++d) {
    Tokens ids;
    for (std::int64_t i = 0; i < d * d * 7 % 31; ++i) ids.push_back((d * 104729 + i * 7919) % end);
    ids.push_back(end);
    documents.push_back(ids);
  }
  return documents;
}

std::string reference(const std::string& name) { return fixture("token_formats/" + name); }

/// What a fixture converts to.
Documents converted(const TemporaryFolder& folder, const std::string& input, ConvertSettings settings = {}) {
  convert(input, folder.file("converted.pbin"), settings);
  return documents_of(folder.file("converted.pbin"));
}

}  // namespace

TEST_CASE("Files that numpy and Megatron wrote are read") {
  TemporaryFolder folder;
  const Documents gpt2 = reference_documents(gpt2_end), llama3 = reference_documents(llama3_end);
  CHECK(converted(folder, reference("nanogpt.bin"), {.from = TokenFormat::nanogpt, .end_of_document = 50256}) == gpt2);
  CHECK(converted(folder, reference("llmc_gpt2.bin"), {.end_of_document = 50256}) == gpt2);
  CHECK(converted(folder, reference("llmc_llama3.bin"), {.end_of_document = 128001}) == llama3);
  CHECK(converted(folder, reference("megatron_gpt2.bin")) == gpt2);
  CHECK(converted(folder, reference("megatron_llama3.bin")) == llama3);
  CHECK(converted(folder, reference("megatron_sentences.bin")) == llama3);
}

TEST_CASE("What is written is, byte for byte, what numpy and Megatron write") {
  TemporaryFolder folder;
  const std::string gpt2 = folder.write("gpt2.pbin", packed_bytes(reference_documents(gpt2_end), 2));
  const std::string llama3 = folder.write("llama3.pbin", packed_bytes(reference_documents(llama3_end), 4));
  const std::string output = folder.file("out.bin");
  const auto same = [&](const std::string& input, TokenFormat to, const std::string& name) {
    convert(input, output, {.to = to});
    return bytes_at(output) == bytes_at(reference(name));
  };
  CHECK(same(gpt2, TokenFormat::nanogpt, "nanogpt.bin"));
  CHECK(same(gpt2, TokenFormat::llm_c, "llmc_gpt2.bin"));
  CHECK(same(llama3, TokenFormat::llm_c, "llmc_llama3.bin"));
  for (const std::string name : {"gpt2", "llama3"}) {
    CHECK(same(name == "gpt2" ? gpt2 : llama3, TokenFormat::megatron, "megatron_" + name + ".bin"));
    CHECK(bytes_at(folder.file("out.idx")) == bytes_at(reference("megatron_" + name + ".idx")));
  }
}

TEST_CASE("Widths change and every id stays") {
  TemporaryFolder folder;
  const Documents documents{{0, 255, 7}, {}, {1}};
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 1));
  std::string last = input;
  for (const std::uint32_t width : {2u, 4u, 2u, 1u, 4u, 1u}) {
    const std::string output = folder.file(std::string("b").append(std::to_string(width)).append(".pbin"));
    const ConvertSummary summary = convert(last, output, {.bytes_per_token = width});
    CHECK(summary.bytes_per_token == width);
    CHECK(summary.n_tokens == 4);
    CHECK(summary.n_documents == 3);
    CHECK(bytes_at(output) == packed_bytes(documents, width));
    last = output;
  }
  CHECK(bytes_at(last) == bytes_at(input));
}

TEST_CASE("There and back again through every format that keeps documents") {
  TemporaryFolder folder;
  const Documents documents = random_documents(3000, 40, 60000, 5);
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  convert(input, folder.file("m.bin"), {.to = TokenFormat::megatron, .bytes_per_token = 4});
  CHECK(convert(folder.file("m.bin"), folder.file("b.pbin"), {.bytes_per_token = 2}).from == TokenFormat::megatron);
  CHECK(bytes_at(folder.file("b.pbin")) == bytes_at(input));
}

TEST_CASE("Documents are found by the token that begins or ends each") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.bin", token_bytes({9, 1, 2, 9, 9, 3}, 2));
  const auto documents = [&](ConvertSettings settings) {
    settings.from = TokenFormat::nanogpt;
    return converted(folder, input, settings);
  };
  CHECK(documents({}) == Documents{{9, 1, 2, 9, 9, 3}});
  CHECK(documents({.end_of_document = 9}) == Documents{{9}, {1, 2, 9}, {9}, {3}});
  CHECK(documents({.begin_of_document = 9}) == Documents{{9, 1, 2}, {9}, {9, 3}});
  CHECK(documents({.begin_of_document = 1}) == Documents{{9}, {1, 2, 9, 9, 3}});
  CHECK(documents({.end_of_document = 70000}) == Documents{{9, 1, 2, 9, 9, 3}});
}

TEST_CASE("A document longer than the pieces that are read keeps its tokens") {
  TemporaryFolder folder;
  Tokens ids(3 << 20);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * 7919 % 50000);
  const Documents documents{{1}, ids, {2}};
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 2));
  convert(input, folder.file("b.pbin"), {.bytes_per_token = 4});
  CHECK(documents_of(folder.file("b.pbin")) == documents);
}

TEST_CASE("Ids that do not fit are refused, and nothing is left") {
  TemporaryFolder folder;
  const std::string small = folder.write("small.pbin", packed_bytes(Documents{{1}, {2, 256}}, 2));
  const std::string large = folder.write("large.pbin", packed_bytes(Documents{{65536}, {0x80000000}}, 4));
  const auto error = [&](const std::string& input, const ConvertSettings& settings) {
    const std::string message = error_of([&] { convert(input, folder.file("out.bin"), settings); });
    CHECK(folder.n_entries() == 2);
    return message;
  };
  const std::string message = error(small, {.to = TokenFormat::packed, .bytes_per_token = 1});
  CHECK(contains(message, "[DATA-47]"));
  CHECK(contains(message, "document 1 has the token id 256"));
  CHECK(contains(error(large, {.to = TokenFormat::nanogpt}), "[DATA-47]"));
  CHECK(contains(error(large, {.to = TokenFormat::megatron}), "id 2147483648"));
  CHECK(contains(error(small, {.to = TokenFormat::nanogpt, .bytes_per_token = 4}), "[DATA-48]"));
  CHECK(contains(error(small, {.to = TokenFormat::llm_c, .bytes_per_token = 1}), "[DATA-48]"));
  CHECK(contains(error(small, {.to = TokenFormat::packed, .bytes_per_token = 3}), "[DATA-48]"));
  CHECK(contains(error(small, {}), "[DATA-50]"));
  CHECK(contains(error(small, {.to = TokenFormat::nanogpt, .end_of_document = 1}), "[DATA-10]"));
  CHECK(contains(error_of([&] { token_format("numpy"); }), "[DATA-50]"));
}

TEST_CASE("Files of llm.c and nanoGPT that are damaged or something else are refused") {
  TemporaryFolder folder;
  const auto error = [&](const std::string& bytes, std::optional<TokenFormat> from) {
    const std::string input = folder.write("a.bin", bytes);
    const std::string message = error_of([&] { convert(input, folder.file("out.pbin"), {.from = from}); });
    CHECK(folder.n_entries() == 1);
    return message;
  };
  const std::string good = bytes_at(reference("llmc_gpt2.bin"));
  for (std::size_t size = 0; size < good.size(); size += 37) {
    CHECK(contains(error(good.substr(0, size), TokenFormat::llm_c), "[DATA-49]"));
  }
  CHECK(contains(error(good + "xx", TokenFormat::llm_c), "[DATA-49]"));
  CHECK(contains(error(good, TokenFormat::nanogpt), "[DATA-49]"));
  CHECK(contains(error("", TokenFormat::nanogpt), "[DATA-49]"));
  CHECK(contains(error("abc", TokenFormat::nanogpt), "[DATA-49]"));
  CHECK(contains(error("abcd", std::nullopt), "[DATA-50]"));
  CHECK(contains(error("abcd", TokenFormat::packed), "[DATA-06]"));
}

TEST_CASE("A Megatron index with any byte changed or cut off never does harm") {
  TemporaryFolder folder;
  constexpr std::size_t n_documents = 3;
  const std::string packed = folder.write("small.pbin", packed_bytes(Documents{{1, 2}, {3}, {4, 5, 6}}, 4));
  const std::string input = folder.file("a.bin");
  convert(packed, input, {.to = TokenFormat::megatron});
  const std::string tokens = bytes_at(input), index = bytes_at(folder.file("a.idx"));
  const auto error = [&](const std::string& bytes) {
    folder.write("a.idx", bytes);
    return error_of([&] { convert(input, folder.file("out.pbin"), {}); });
  };
  for (std::size_t size = 0; size < index.size(); ++size) CHECK(contains(error(index.substr(0, size)), "[DATA-49]"));
  for (std::size_t i = 0; i < index.size(); ++i) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = index;
      changed[i] = static_cast<char>(value);
      const std::string message = error(changed);
      if (!message.empty() && !contains(message, "[DATA-49]") && !contains(message, "[DATA-47]")) FAIL(message);
    }
  }
  const auto with_number = [&](std::size_t offset, std::uint64_t number) {
    std::string changed = index;
    changed.replace(offset, 8, number_bytes(number, 8));
    return error(changed);
  };
  for (const std::uint64_t count : {std::uint64_t{1} << 60, ~std::uint64_t{0}, std::uint64_t{0}}) {
    CHECK(contains(with_number(18, count), "[DATA-49]"));
    CHECK(contains(with_number(26, count), "[DATA-49]"));
  }
  std::string overlapping = index;  // every sequence the whole of the tokens
  for (std::size_t i = 0; i < n_documents; ++i) {
    overlapping.replace(34 + i * 4, 4, number_bytes(tokens.size() / 4, 4));
    overlapping.replace(34 + n_documents * 4 + i * 8, 8, number_bytes(0, 8));
  }
  CHECK(contains(error(overlapping), "overlap"));
  folder.write("a.idx", index);
  CHECK(contains(error_of([&] {
                   convert(folder.write("a.bin", tokens.substr(0, tokens.size() - 4)), folder.file("out.pbin"), {});
                 }),
                 "[DATA-49]"));
  CHECK(contains(error_of([&] { convert(folder.write("a.bin", tokens + "1234"), folder.file("out.pbin"), {}); }),
                 "[DATA-49]"));
}
