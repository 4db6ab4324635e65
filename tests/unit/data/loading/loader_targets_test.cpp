// Tokens that are their own targets, and what an objective makes of samples, in training and in evaluation.
#include "unit/data/packed_test_support.hpp"

#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>

#include <algorithm>

using namespace monomorph::data;

using monomorph::ignored_target;
using monomorph::Sample;

namespace {

using Ids = std::vector<std::int32_t>;

/// Writes into a sample's inputs what prepare was told of it, and ignores its first target.
void show(const Sample& sample) {
  const auto words = sample.random(7);
  sample.inputs_T[0] = static_cast<std::int32_t>(sample.number);
  sample.inputs_T[1] = static_cast<std::int32_t>(words[0] >> 1);
  sample.inputs_T[2] = static_cast<std::int32_t>(sample.vocab_size);
  sample.targets_T[0] = ignored_target;
}

struct Batch {
  Ids inputs, targets;
  Batch(const auto& loader, std::int64_t first, std::int64_t count)
      : inputs(static_cast<std::size_t>(count * loader.sequence_length())), targets(inputs.size()) {
    loader.read(first, count, {inputs.data(), targets.data()});
  }
};

}  // namespace

TEST_CASE("A token may be its own target: a sample then needs no token behind it") {
  const TemporaryFolder folder;
  for (const std::uint32_t n_tokens : {4u, 7u, 8u, 9u}) {
    const std::string path = folder.write("a.pbin", counting_file(n_tokens));
    const TokenDataset dataset(path, 4, any_vocabulary, LastTarget::reused, TargetToken::itself);
    CHECK(dataset.n_samples() == n_tokens / 4);
    CHECK(dataset.n_counted() == n_tokens);
    Ids inputs(4), targets(4);
    dataset.read(dataset.n_samples() - 1, inputs.data(), targets.data());
    CHECK(inputs[0] == 4 * (dataset.n_samples() - 1));
    CHECK(targets == inputs);
  }
  const std::string path = folder.write("a.pbin", counting_file(3));
  const auto error = [&](LastTarget last_target) {
    return error_of([&] { TokenDataset(path, 4, any_vocabulary, last_target, TargetToken::itself); });
  };
  CHECK(contains(error(LastTarget::reused), "[DATA-08]"));
  CHECK(contains(error(LastTarget::reused), "takes 4 (a sequence of 4);"));
  CHECK(contains(error(LastTarget::separate), "[DATA-65] data.last_target"));
}

TEST_CASE("An evaluation leaves out the tokens that do not fill a sample where tokens are their own targets") {
  const TemporaryFolder folder;
  for (const std::uint32_t n_tokens : {8u, 10u, 11u, 12u}) {
    const EvaluationLoader loader(folder.write("a.pbin", counting_file(n_tokens)), 4, any_vocabulary,
                                  {.target = TargetToken::itself});
    const std::int64_t n_samples = n_tokens / 4;
    CHECK(loader.n_targets() == 4 * n_samples);
    CHECK(loader.n_batches(2) == (n_samples + 1) / 2);
    std::int64_t n_counted = 0;
    for (std::int64_t i = 0; i < loader.n_batches(2); ++i) {
      const Batch batch(loader, i, 2);
      for (std::size_t j = 0; j < batch.targets.size(); ++j) {
        if (batch.targets[j] == ignored_target) continue;
        REQUIRE(batch.targets[j] == batch.inputs[j]);
        REQUIRE(batch.targets[j] == n_counted++);
      }
    }
    CHECK(n_counted == loader.n_targets());
  }
}

TEST_CASE("Each sample is prepared with its number in the run, however the samples are divided and read") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", counting_file(50));
  const BatchContents contents{.target = TargetToken::itself, .prepare = show};
  const Loader loader({{path}}, {.sequence_length = 4, .vocab_size = any_vocabulary, .seed = 5, .contents = contents});
  const Batch all(loader, 0, 30);  // two epochs and a half
  const auto key = monomorph::random::key_of({5, monomorph::random::Purpose::training_samples});
  for (std::int32_t n = 0; n < 30; ++n) {
    const auto row = static_cast<std::size_t>(4 * n);
    CHECK(all.inputs[row] == n);
    const auto words = monomorph::random::philox({7, 0, static_cast<std::uint32_t>(n), 0}, key);
    CHECK(all.inputs[row + 1] == static_cast<std::int32_t>(words[0] >> 1));
    CHECK(all.inputs[row + 2] == any_vocabulary);
    CHECK(all.targets[row] == ignored_target);
    CHECK(all.targets[row + 3] == all.inputs[row + 3]);
  }
  BatchPrefetcher prefetcher(loader, 2, 3, 6);
  for (std::int64_t first = 2; first < 24; first += 6) {
    const BatchPrefetcher::Batch batch = prefetcher.next();
    CHECK(std::ranges::equal(batch.inputs_BT, std::span(all.inputs).subspan(static_cast<std::size_t>(4 * first), 12)));
    CHECK(
        std::ranges::equal(batch.targets_BT, std::span(all.targets).subspan(static_cast<std::size_t>(4 * first), 12)));
  }
}

TEST_CASE("A held-out sample is prepared alike in every evaluation, and other than in training") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", counting_file(50));
  const BatchContents contents{.target = TargetToken::itself, .prepare = show};
  const EvaluationLoader loader(path, 4, any_vocabulary, contents);
  const Batch all(loader, 0, 12);
  for (std::int64_t i = 0; i < 6; ++i) {
    const Batch batch(loader, i, 2);
    CHECK(std::ranges::equal(batch.inputs, std::span(all.inputs).subspan(static_cast<std::size_t>(8 * i), 8)));
  }
  const Batch trained(Loader({{path}}, {.sequence_length = 4, .vocab_size = any_vocabulary, .contents = contents}), 0,
                      1);
  CHECK(trained.inputs[0] == all.inputs[0]);
  CHECK(trained.inputs[1] != all.inputs[1]);
}
