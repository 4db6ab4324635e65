#include "unit/data/packed_test_support.hpp"

#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <random>

using namespace monomorph::data;

using monomorph::ignored_target;

TEST_CASE("The order of an epoch is a permutation, another one in the next epoch") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const auto n = static_cast<std::int64_t>(1 + random() % (trial < 2900 ? 100 : 20000));
    const SampleOrder order(n, random(), true);
    const auto epoch = static_cast<std::int64_t>(random() % 1000);
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto place = order.place(epoch * n + i);
      REQUIRE(place.epoch == epoch);
      REQUIRE((place.index >= 0 && place.index < n));
      REQUIRE_FALSE(seen[static_cast<std::size_t>(place.index)]);
      seen[static_cast<std::size_t>(place.index)] = true;
    }
  }
  const SampleOrder order(1000, 7, true), other_seed(1000, 8, true);
  int n_same_epoch = 0, n_same_seed = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    n_same_epoch += order.place(i).index == order.place(1000 + i).index;
    n_same_seed += order.place(i).index == other_seed.place(i).index;
  }
  CHECK(n_same_epoch < 10);  // one is expected
  CHECK(n_same_seed < 10);
}

TEST_CASE("Every place is as likely for every sample") {
  constexpr std::int64_t n = 10;
  std::array<std::array<int, n>, n> counts{};
  const SampleOrder order(n, 3, true);
  for (std::int64_t g = 0; g < n * 10000; ++g)
    ++counts[static_cast<std::size_t>(g % n)][static_cast<std::size_t>(order.place(g).index)];
  for (const auto& row : counts) {
    for (const int count : row) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  }
}

TEST_CASE("Any way of splitting the global sequence reads the same samples") {
  TemporaryFolder folder;
  const Loader loader({{folder.write("a.pbin", counting_file(1003))}},
                      {.sequence_length = 8, .vocab_size = any_vocabulary, .seed = 5});
  REQUIRE(loader.set(0).n_samples() == (1003 - 8 - 1) / 8 + 1);
  const std::int64_t n_total = 2 * loader.set(0).n_samples() + 11;
  std::vector<std::int32_t> inputs(static_cast<std::size_t>(n_total * 8)), targets(inputs.size());
  loader.read(0, n_total, {inputs.data(), targets.data()});
  for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(targets[i] == inputs[i] + 1);
  std::vector<std::int32_t> starts;
  for (std::int64_t i = 0; i < loader.set(0).n_samples(); ++i)
    starts.push_back(inputs[static_cast<std::size_t>(i * 8)]);
  std::sort(starts.begin(), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) CHECK(starts[i] == static_cast<std::int32_t>(8 * i));
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const std::int64_t first = random() % n_total;
    const std::int64_t count = 1 + random() % (n_total - first);
    std::vector<std::int32_t> some(static_cast<std::size_t>(count * 8)), some_targets(some.size());
    loader.read(first, count, {some.data(), some_targets.data()});
    REQUIRE(std::equal(some.begin(), some.end(), inputs.begin() + first * 8));
    REQUIRE(std::equal(some_targets.begin(), some_targets.end(), targets.begin() + first * 8));
  }
}

TEST_CASE("Samples are cut as the two variants of the format say") {
  TemporaryFolder folder;
  for (const std::uint32_t n_tokens : {5u, 8u, 9u, 10u, 20u, 21u}) {
    const std::string path = folder.write("a.pbin", counting_file(n_tokens));
    const TokenDataset reused(path, 4, any_vocabulary, LastTarget::reused);
    const TokenDataset separate(path, 4, any_vocabulary, LastTarget::separate);
    CHECK(reused.n_samples() == (n_tokens - 4 - 1) / 4 + 1);
    CHECK(separate.n_samples() == n_tokens / 5);
    std::int32_t inputs[4], targets[4];
    reused.read(reused.n_samples() - 1, inputs, targets);
    CHECK(inputs[0] == 4 * (reused.n_samples() - 1));
    CHECK(targets[3] == inputs[0] + 4);
    separate.read(separate.n_samples() - 1, inputs, targets);
    CHECK(inputs[0] == 5 * (separate.n_samples() - 1));
  }
}

TEST_CASE("Evaluation has every token but the first as a target once") {
  TemporaryFolder folder;
  for (const std::uint32_t n_tokens : {5u, 6u, 8u, 9u, 33u, 40u}) {
    const EvaluationLoader loader(folder.write("a.pbin", counting_file(n_tokens)), 4, any_vocabulary);
    CHECK(loader.n_targets() == n_tokens - 1);
    for (const std::int64_t batch : {1, 3, 100}) {
      std::vector<std::int32_t> inputs(static_cast<std::size_t>(batch * 4)), targets(inputs.size()), seen;
      for (std::int64_t i = 0; i < loader.n_batches(batch); ++i) {
        loader.read(i, batch, {inputs.data(), targets.data()});
        for (std::size_t at = 0; at < targets.size(); ++at) {
          if (targets[at] == ignored_target) continue;
          CHECK(inputs[at] == targets[at] - 1);
          seen.push_back(targets[at]);
        }
      }
      std::vector<std::int32_t> expected(n_tokens - 1);
      std::iota(expected.begin(), expected.end(), 1);
      CHECK(seen == expected);
    }
  }
}

TEST_CASE("A set of another vocabulary, too short or changed meanwhile is refused with its name") {
  TemporaryFolder folder;
  const std::string path = folder.write("set.pbin", counting_file(100));
  const auto error = [&](std::int64_t length, std::int64_t vocab_size) {
    return error_of([&] { Loader unused({{path}}, {.sequence_length = length, .vocab_size = vocab_size}); });
  };
  CHECK(error(99, 100) == "");
  CHECK((contains(error(8, 99), "[DATA-07]") && contains(error(8, 99), "set.pbin")));
  CHECK((contains(error(100, 100), "[DATA-08]") && contains(error(100, 100), "101")));
  CHECK(contains(error(0, 100), "[DATA-13]"));
  const Loader loader({{path}}, {.sequence_length = 8, .vocab_size = 100});
  folder.write("set.pbin", counting_file(101));
  std::int32_t inputs[8], targets[8];
  CHECK(contains(error_of([&] { loader.read(0, 1, {inputs, targets}); }), "[DATA-09]"));
}

TEST_CASE("Of a large set every id is looked at before it is read") {
  TemporaryFolder folder;
  const std::string path = folder.file("large.pbin");
  constexpr std::uint64_t n_bytes = std::uint64_t{272} << 20;  // a hole, so no disk is needed
  const auto header = packed_header(n_bytes, 2);
  std::ofstream(path).write(reinterpret_cast<const char*>(header.data()), header.size());
  const std::string index("\x80\x04\x5d\x94\x2e", 5);  // no documents
  const auto write_at = [&](std::uint64_t position, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(position));
    file << bytes;
  };
  write_at(packed_header_bytes + n_bytes, index);
  const auto error = [&] {
    return error_of([&] { Loader unused({{path}}, {.sequence_length = 64, .vocab_size = 50000}); });
  };
  CHECK(error() == "");
  std::mt19937_64 random(7);
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t token = i == 0 ? n_bytes / 2 - 1 : random() % (n_bytes / 2);
    CAPTURE(token);
    write_at(packed_header_bytes + 2 * token, "\xff\xff");
    CHECK((contains(error(), "[DATA-07]") && contains(error(), "65535")));
    write_at(packed_header_bytes + 2 * token, std::string(2, '\0'));
  }
}

TEST_CASE("Every width is read, and a file cut short anywhere is refused") {
  TemporaryFolder folder;
  for (const std::uint32_t width : {1u, 2u, 4u}) {
    const std::string bytes = counting_file(40, width);
    const PackedFile whole(folder.write("a.pbin", bytes));
    CHECK(whole.n_tokens() == 40);
    CHECK(whole.largest_id() == 39);
    CHECK(whole.documents() == std::vector<DocumentSpan>{{0, 40 * width}});
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string path = folder.write("cut.pbin", bytes.substr(0, size));
      const std::string error = error_of([&] { PackedFile(path).documents(); });
      CHECK((contains(error, "[DATA-06]") || contains(error, "[DATA-05]")));
    }
  }
  std::string bytes = counting_file(40);
  for (const int width : {0, 3, 5, 255}) {
    bytes[8] = static_cast<char>(width);
    CHECK(contains(error_of([&] { PackedFile unused(folder.write("b.pbin", bytes)); }), "bytes per token"));
  }
  CHECK(bytes_per_token_for(256) == 1);
  CHECK(bytes_per_token_for(257) == 2);
  CHECK(bytes_per_token_for(65536) == 2);
  CHECK(bytes_per_token_for(65537) == 4);
}

TEST_CASE("As many batches of the prefetcher stay good as are in use at a time") {
  TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", counting_file(500));
  const Loader loader({{path}}, {.sequence_length = 8, .vocab_size = any_vocabulary, .seed = 5});
  constexpr std::int64_t in_use = 3;
  BatchPrefetcher batches(loader, 0, 2, 2, in_use);
  std::vector<BatchPrefetcher::Batch> given;
  std::vector<std::int32_t> inputs(16), targets(16);
  for (std::int64_t i = 0; i < 20; ++i) {
    given.push_back(batches.next());
    for (std::int64_t earlier = std::max(i - in_use + 1, std::int64_t{0}); earlier <= i; ++earlier) {
      loader.read(2 * earlier, 2, {inputs.data(), targets.data()});
      CHECK(std::ranges::equal(given[earlier].inputs_BT, inputs));
      CHECK(std::ranges::equal(given[earlier].targets_BT, targets));
    }
  }
}

TEST_CASE("The prefetcher gives what the loader reads, from any place on, and its errors") {
  TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", counting_file(500));
  const Loader loader({{path}}, {.sequence_length = 8, .vocab_size = any_vocabulary, .seed = 5});
  BatchPrefetcher batches(loader, 6, 3, 6);
  std::vector<std::int32_t> inputs(24), targets(24);
  const auto check_next = [&](std::int64_t position) {
    CHECK(batches.position() == position);
    const auto batch = batches.next();
    loader.read(position, 3, {inputs.data(), targets.data()});
    CHECK(batch.first_sample == position);
    CHECK(std::equal(inputs.begin(), inputs.end(), batch.inputs_BT.begin()));
    CHECK(std::equal(targets.begin(), targets.end(), batch.targets_BT.begin()));
    CHECK(batches.last_wait_seconds() >= 0);
  };
  for (std::int64_t i = 1; i < 50; ++i) check_next(6 * i);
  batches.seek(1);
  check_next(1);
  check_next(7);
  folder.write("a.pbin", counting_file(501));
  batches.seek(0);
  CHECK(contains(error_of([&] { batches.next(); }), "[DATA-09]"));
}
