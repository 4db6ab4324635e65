// Where the documents of a batch begin, against the index read by hand.
#include "unit/data/packed_test_support.hpp"

#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>

#include <algorithm>
#include <random>

using namespace monomorph::data;

namespace {

/// By token where its document begins.
std::vector<std::int64_t> starts_by_token(const std::vector<std::uint32_t>& lengths) {
  std::vector<std::int64_t> starts;
  for (const std::uint32_t length : lengths) {
    const auto start = static_cast<std::int64_t>(starts.size());
    starts.insert(starts.end(), length, start);
  }
  return starts;
}

/// What a row that begins at token `first` must say.
bool is_right(std::span<const std::int32_t> row, std::int64_t first, const std::vector<std::int64_t>& starts) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::int64_t start = starts[static_cast<std::size_t>(first) + i];
    if (row[i] != std::max<std::int64_t>(start - first, 0)) return false;
  }
  return true;
}

std::vector<std::uint32_t> random_lengths(std::mt19937_64& random, std::uint32_t longest, std::size_t n) {
  std::vector<std::uint32_t> lengths(n);
  for (std::uint32_t& length : lengths) length = random() % 4 == 0 ? random() % 3 : 1 + random() % longest;
  return lengths;
}

}  // namespace

TEST_CASE("A batch says for each token where its document begins in the row") {
  std::mt19937_64 random(31);
  TemporaryFolder folder;
  for (int trial = 0; trial < 1000; ++trial) {
    const std::uint32_t width = std::array{1u, 2u, 4u}[random() % 3];
    std::vector<std::uint32_t> lengths = random_lengths(random, 1 + random() % 40, 1 + random() % 20);
    lengths.push_back(30);
    const std::vector<std::int64_t> starts = starts_by_token(lengths);
    if (width == 1 && starts.size() > 250) continue;
    const std::string path = folder.write("a.pbin", packed_documents(lengths, width));
    const auto T = static_cast<std::int64_t>(1 + random() % 25);
    const Loader loader({{path}}, {.sequence_length = T,
                                   .vocab_size = any_vocabulary,
                                   .seed = random(),
                                   .last_target = random() % 2 ? LastTarget::reused : LastTarget::separate,
                                   .contents = {.document_starts = true}});
    constexpr std::int64_t count = 20;
    std::vector<std::int32_t> inputs(static_cast<std::size_t>(count * T)), targets(inputs.size()),
        document_starts(inputs.size(), -7);
    loader.read(3, count, {inputs.data(), targets.data(), document_starts.data()});
    for (std::int64_t row = 0; row < count; ++row) {
      const auto at = static_cast<std::size_t>(row * T);
      REQUIRE(is_right(std::span(document_starts).subspan(at, static_cast<std::size_t>(T)), inputs[at], starts));
    }
  }
}

TEST_CASE("Documents are found in a file of many pieces, long and empty ones included") {
  std::mt19937_64 random(32);
  TemporaryFolder folder;
  // The boundaries of the index's pieces of 2^16 tokens are met, passed over, and doubled by empty documents.
  for (const std::vector<std::uint32_t>& lengths : {std::vector<std::uint32_t>{65536, 65536, 1, 65535, 300},
                                                    {65535, 2, 65535},
                                                    {200000},
                                                    {0, 0, 70000, 0, 1, 0},
                                                    {1, 65535, 0, 0, 65536, 65536 * 2, 5, 0},
                                                    random_lengths(random, 3000, 200)}) {
    const std::vector<std::int64_t> starts = starts_by_token(lengths);
    const PackedFile file(folder.write("a.pbin", packed_documents(lengths)));
    const DocumentStarts documents(file);
    std::vector<std::int32_t> row(64);
    const auto check_at = [&](std::int64_t first) {
      if (first < 0 || first + 64 > file.n_tokens()) return;
      documents.read(first, row);
      REQUIRE(is_right(row, first, starts));
    };
    for (std::int64_t piece = 0; piece <= file.n_tokens() >> 16; ++piece)
      for (std::int64_t offset = -70; offset < 10; ++offset) check_at(65536 * piece + offset);
    for (int i = 0; i < 500; ++i) check_at(static_cast<std::int64_t>(random()) % (file.n_tokens() - 63));
    std::vector<std::int32_t> all(static_cast<std::size_t>(file.n_tokens()));
    documents.read(0, all);
    REQUIRE(is_right(all, 0, starts));
  }
}

TEST_CASE("Evaluation says where documents begin, and padding goes on with the last one") {
  std::mt19937_64 random(33);
  TemporaryFolder folder;
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<std::uint32_t> lengths{static_cast<std::uint32_t>(5 + random() % 30),
                                             static_cast<std::uint32_t>(random() % 9), 1, 4};
    const std::vector<std::int64_t> starts = starts_by_token(lengths);
    const EvaluationLoader loader(folder.write("a.pbin", packed_documents(lengths)), 4, any_vocabulary,
                                  {.document_starts = true});
    const auto batch = static_cast<std::int64_t>(1 + random() % 4);
    std::vector<std::int32_t> inputs(static_cast<std::size_t>(batch * 4)), targets(inputs.size()),
        document_starts(inputs.size());
    for (std::int64_t i = 0; i < loader.n_batches(batch); ++i) {
      loader.read(i, batch, {inputs.data(), targets.data(), document_starts.data()});
      for (std::int64_t row = 0; row < batch; ++row) {
        const std::int64_t first = (i * batch + row) * 4;
        const auto at = static_cast<std::size_t>(row * 4);
        const std::int64_t n_real = std::clamp<std::int64_t>(loader.n_targets() - first, 0, 4);
        REQUIRE(is_right(std::span(document_starts).subspan(at, static_cast<std::size_t>(n_real)), first, starts));
        for (std::int64_t t = n_real; t < 4; ++t)
          REQUIRE(document_starts[at + static_cast<std::size_t>(t)] ==
                  (n_real > 0 ? document_starts[at + static_cast<std::size_t>(n_real) - 1] : 0));
      }
    }
  }
}

TEST_CASE("The prefetcher carries the boundaries where the loader has them") {
  TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", packed_documents({5, 9, 1, 1, 30, 14}));
  for (const bool wanted : {false, true}) {
    const Loader loader({{path}},
                        {.sequence_length = 8, .vocab_size = any_vocabulary, .contents = {.document_starts = wanted}});
    BatchPrefetcher batches(loader, 0, 3, 3);
    const auto batch = batches.next();
    REQUIRE(batch.document_starts_BT.size() == (wanted ? 24 : 0));
    std::vector<std::int32_t> inputs(24), targets(24), expected(24);
    loader.read(0, 3, {inputs.data(), targets.data(), expected.data()});
    if (wanted) CHECK(std::ranges::equal(batch.document_starts_BT, expected));
  }
}

TEST_CASE("Boundaries are refused where the index does not cover the tokens in order") {
  TemporaryFolder folder;
  const auto error = [&](const std::vector<DocumentSpan>& spans) {
    std::string bytes = counting_file(10, 2);
    bytes.resize(packed_header_bytes + 20);
    SpanIndexWriter index([&](std::span<const std::byte> piece) {
      bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    for (const DocumentSpan& span : spans) index.add(span);
    index.finish();
    const std::string path = folder.write("a.pbin", bytes);
    const LoaderSettings settings{.sequence_length = 4, .vocab_size = any_vocabulary};
    CHECK(error_of([&] { Loader unused({{path}}, settings); }).empty());  // who doesn't ask isn't told
    return error_of([&] {
      LoaderSettings asking = settings;
      asking.contents.document_starts = true;
      Loader unused({{path}}, asking);
    });
  };
  CHECK(error({{0, 4}, {4, 16}}).empty());
  CHECK(contains(error({}), "[DATA-62]"));
  CHECK(contains(error({{0, 4}, {6, 14}}), "at token 2,"));  // a gap
  CHECK(contains(error({{0, 6}, {4, 16}}), "[DATA-62]"));    // an overlap
  CHECK(contains(error({{4, 16}, {0, 4}}), "at token 0,"));  // another order
  CHECK(contains(error({{0, 4}, {4, 14}}), "at token 9,"));  // the last token belongs to none
  CHECK(contains(error({{0, 4}, {4, 18}}), "[DATA-06]"));    // beyond the end
  CHECK(contains(error({{0, 3}, {3, 17}}), "[DATA-06]"));    // cuts a token
  CHECK(contains(error({{12, 4}, {16, 4}}), "[DATA-62]"));   // shifted by a header
}
