// Targets that a prefix shows to the tokens they belong to, against the definition: a token of the first `prefix` of
// its sample, or of its document there, sees all of these.
#include "unit/data/packed_test_support.hpp"

#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/prefix_targets.hpp>

#include <random>

using namespace monomorph::data;

namespace {

/// Whether token t of a sample sees the next one, its target.
bool sees_target(std::span<const std::int32_t> starts_T, std::size_t t, std::int64_t prefix) {
  if (t + 1 == starts_T.size()) return false;  // it is in another sample
  if (starts_T[t + 1] != starts_T[t]) return false;
  return static_cast<std::int64_t>(t + 1) - starts_T[t] < prefix;
}

}  // namespace

TEST_CASE("No token of a prefix is a target, in training or in evaluation, with documents or without") {
  std::mt19937_64 random(41);
  TemporaryFolder folder;
  constexpr std::int64_t count = 6;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint32_t> lengths{40};
    for (int i = 0; i < 12; ++i) lengths.push_back(static_cast<std::uint32_t>(1 + random() % 9));
    const std::string path = folder.write("a.pbin", packed_documents(lengths));
    const auto T = static_cast<std::int64_t>(2 + random() % 12), prefix = static_cast<std::int64_t>(random()) % (T + 1);
    const bool documents = random() % 2 == 0;
    const auto size = static_cast<std::size_t>(count * T);
    std::vector<std::int32_t> inputs(size), all(size), targets(size), starts(size, 0);
    std::int32_t* const starts_BT = documents ? starts.data() : nullptr;
    const auto check = [&](const auto& plain, const auto& with_prefix) {
      plain(inputs.data(), all.data(), starts_BT);
      with_prefix(inputs.data(), targets.data(), starts_BT);
      for (std::size_t i = 0; i < size; ++i) {
        const auto t = i % static_cast<std::size_t>(T);
        const std::span sample(starts.data() + (i - t), static_cast<std::size_t>(T));
        REQUIRE(targets[i] == (sees_target(sample, t, prefix) ? monomorph::ignored_target : all[i]));
      }
    };
    const auto reading = [&](std::int64_t n) {
      return [&, n](auto* in, auto* target, auto* start) {
        Loader({{path}}, {.sequence_length = T,
                          .vocab_size = any_vocabulary,
                          .contents = {.document_starts = documents, .prefix = n}})
            .read(2, count, {in, target, start});
      };
    };
    const auto evaluating = [&](std::int64_t n) {
      return [&, n](auto* in, auto* target, auto* start) {
        EvaluationLoader(path, T, any_vocabulary, {.document_starts = documents, .prefix = n})
            .read(0, count, {in, target, start});
      };
    };
    check(reading(0), reading(prefix));
    check(evaluating(0), evaluating(prefix));
  }
}
