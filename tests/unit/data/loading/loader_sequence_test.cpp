// The global sequence of samples: the same for every number of ranks, batch and resume, with each set in epochs.
#include "unit/data/packed_test_support.hpp"

#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/data/loading/loader.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace monomorph::data;

namespace {

constexpr std::uint32_t tokens_between_sets = 1 << 20;  // a token tells its set, too

/// Files of different lengths and widths whose tokens tell set and place, and loaders of some of them.
struct Sets {
  TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<std::uint32_t> n_tokens{23, 50, 101, 257, 40, 77};

  Sets() {
    for (std::uint32_t i = 0; i < n_tokens.size(); ++i)
      paths.push_back(
          folder.write("set" + std::to_string(i) + ".pbin", counting_file(n_tokens[i], 4, i * tokens_between_sets)));
  }
};

struct Setting {
  monomorph::WeightedPaths sets;
  LoaderSettings settings;
};

Setting random_setting(const Sets& sets, std::mt19937_64& random) {
  Setting setting{{},
                  {.sequence_length = static_cast<std::int64_t>(1 + random() % 12),
                   .vocab_size = any_vocabulary,
                   .seed = random(),
                   .shuffle = random() % 4 != 0,
                   .last_target = random() % 2 ? LastTarget::reused : LastTarget::separate,
                   .weight_by = random() % 2 ? WeightBy::sample : WeightBy::token}};
  std::vector<std::size_t> order(sets.paths.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  order.resize(1 + random() % order.size());
  for (const std::size_t set : order)
    setting.sets.push_back({sets.paths[set], 0.1 + static_cast<double>(random() % 40)});
  return setting;
}

/// The first tokens of samples [first, first + count); that each sample is consecutive tokens is checked.
std::vector<std::int32_t> first_tokens(const Loader& loader, std::int64_t first, std::int64_t count) {
  const std::int64_t T = loader.sequence_length();
  std::vector<std::int32_t> inputs(static_cast<std::size_t>(count * T)), targets(inputs.size()), firsts;
  loader.read(first, count, {inputs.data(), targets.data()});
  bool consecutive = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    consecutive = consecutive && targets[i] == inputs[i] + 1;
    if (static_cast<std::int64_t>(i) % T == 0)
      firsts.push_back(inputs[i]);
    else
      consecutive = consecutive && inputs[i] == inputs[i - 1] + 1;
  }
  REQUIRE(consecutive);
  return firsts;
}

}  // namespace

TEST_CASE("Any ranks, batches and resumes read one global sequence") {
  const Sets sets;
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 1500; ++trial) {
    const Setting setting = random_setting(sets, random);
    const Loader loader(setting.sets, setting.settings);
    const std::int64_t n_total = 150;
    const std::vector<std::int32_t> whole = first_tokens(loader, 0, n_total);
    // A run of stages, each with its own ranks, micro-batches and accumulation, resumed by the number of samples alone.
    std::int64_t position = 0;
    while (position < n_total) {
      const auto ranks = static_cast<std::int64_t>(1 + random() % 5);
      const auto micro_batch = static_cast<std::int64_t>(1 + random() % 4);
      const auto accumulation = static_cast<std::int64_t>(1 + random() % 3);
      const std::int64_t rank_batch = micro_batch * accumulation, global_batch = ranks * rank_batch;
      const auto n_steps = static_cast<std::int64_t>(1 + random() % 3);
      const Loader resumed(setting.sets, setting.settings);
      for (std::int64_t step = 0; step < n_steps && position + global_batch <= n_total; ++step) {
        std::vector<std::int32_t> seen;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          for (std::int64_t micro = 0; micro < accumulation; ++micro) {
            const auto part = first_tokens(resumed, position + rank * rank_batch + micro * micro_batch, micro_batch);
            seen.insert(seen.end(), part.begin(), part.end());
          }
        }
        REQUIRE(std::equal(seen.begin(), seen.end(), whole.begin() + position));
        position += global_batch;
      }
      if (position + 60 > n_total) break;  // the largest global batch
    }
  }
}

TEST_CASE("Each set of a mixture goes through epochs of its own and is drawn in its share") {
  const Sets sets;
  std::mt19937_64 random(22);
  for (int trial = 0; trial < 500; ++trial) {
    const Setting setting = random_setting(sets, random);
    const Loader loader(setting.sets, setting.settings);
    const std::int64_t n_total = 600, T = loader.sequence_length();
    const std::int64_t stride = setting.settings.last_target == LastTarget::reused ? T : T + 1;
    std::map<std::int32_t, std::vector<std::int64_t>> by_set;  // the samples of each set, in the order of the run
    for (const std::int32_t token : first_tokens(loader, 0, n_total)) {
      const std::int32_t set = token / static_cast<std::int32_t>(tokens_between_sets),
                         place = token % static_cast<std::int32_t>(tokens_between_sets);
      REQUIRE(place % stride == 0);
      by_set[set].push_back(place / stride);
    }
    double sum = 0;
    std::vector<double> weights;
    for (std::size_t i = 0; i < setting.sets.size(); ++i) {
      const double size = static_cast<double>(loader.set(i).n_samples());
      weights.push_back(setting.sets[i].weight * (setting.settings.weight_by == WeightBy::token ? size : 1));
      sum += weights.back();
    }
    for (std::size_t i = 0; i < setting.sets.size(); ++i) {
      const auto found = std::ranges::find(sets.paths, setting.sets[i].path) - sets.paths.begin();
      const std::vector<std::int64_t>& samples = by_set[static_cast<std::int32_t>(found)];
      const auto n_samples = static_cast<std::size_t>(loader.set(i).n_samples());
      CHECK(n_samples ==
            static_cast<std::size_t>((sets.n_tokens[static_cast<std::size_t>(found)] - T - 1) / stride + 1));
      CHECK(std::abs(static_cast<double>(samples.size()) - n_total * weights[i] / sum) < 1 + 1e-9);
      CHECK(loader.samples_by_set(n_total)[i] == static_cast<std::int64_t>(samples.size()));
      CHECK(loader.share(i) == Approx(weights[i] / sum));
      for (std::size_t begin = 0; begin < samples.size(); begin += n_samples) {
        const std::size_t size = std::min(n_samples, samples.size() - begin);
        const std::set<std::int64_t> epoch(samples.begin() + static_cast<std::ptrdiff_t>(begin),
                                           samples.begin() + static_cast<std::ptrdiff_t>(begin + size));
        REQUIRE(epoch.size() == size);  // none twice
        REQUIRE(*epoch.rbegin() < static_cast<std::int64_t>(n_samples));
      }
    }
  }
}

TEST_CASE("A set alone is in the order that runs of one set always had") {
  const Sets sets;
  const Loader loader({{sets.paths[3], 0.25}}, {.sequence_length = 4, .vocab_size = any_vocabulary, .seed = 99});
  const SampleOrder order(loader.set(0).n_samples(), 99, true);
  const std::vector<std::int32_t> whole = first_tokens(loader, 0, 200);
  for (std::int64_t n = 0; n < 200; ++n)
    CHECK(whole[static_cast<std::size_t>(n)] ==
          static_cast<std::int32_t>(3 * tokens_between_sets + 4 * order.place(n).index));
  // Two seeds, and the numbers that version 0.1.0 gave for them.
  const SampleOrder pinned(1000, 7, true), other(63, 0, true);
  CHECK(pinned.place(0).index == 468);
  CHECK(pinned.place(2500).index == 501);
  CHECK(other.place(62).index == 49);
}

TEST_CASE("Two sets of one length are in different orders") {
  TemporaryFolder folder;
  const std::string a = folder.write("a.pbin", counting_file(1001)),
                    b = folder.write("b.pbin", counting_file(1001, 4, tokens_between_sets));
  const Loader loader({{a}, {b}}, {.sequence_length = 1, .vocab_size = any_vocabulary, .seed = 5});
  std::vector<std::int32_t> of_a, of_b;
  for (const std::int32_t token : first_tokens(loader, 0, 2000))
    (token < static_cast<std::int32_t>(tokens_between_sets) ? of_a : of_b).push_back(token % tokens_between_sets);
  REQUIRE(of_a.size() == of_b.size());
  int n_same = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i) n_same += of_a[i] == of_b[i];
  CHECK(n_same < 10);  // one is expected
}

TEST_CASE("The prefetchers of several ranks give the parts of a mixture's batches") {
  const Sets sets;
  const Loader loader({{sets.paths[0], 2}, {sets.paths[2], 1}, {sets.paths[3], 5}},
                      {.sequence_length = 6, .vocab_size = any_vocabulary, .seed = 3});
  const std::vector<std::int32_t> whole = first_tokens(loader, 0, 240);
  for (const std::int64_t ranks : {1, 2, 3}) {
    std::vector<std::unique_ptr<BatchPrefetcher>> prefetchers;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      prefetchers.push_back(std::make_unique<BatchPrefetcher>(loader, 12 + rank * 4, 4, ranks * 4));
    for (std::int64_t position = 12; position + ranks * 4 <= 240; position += ranks * 4) {
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const auto batch = prefetchers[static_cast<std::size_t>(rank)]->next();
        for (std::int64_t i = 0; i < 4; ++i)
          REQUIRE(batch.inputs_BT[static_cast<std::size_t>(i * 6)] ==
                  whole[static_cast<std::size_t>(position + rank * 4 + i)]);
      }
    }
  }
}

TEST_CASE("Whichever set of a mixture is wrong or changes is named") {
  const Sets sets;
  const auto error = [&](const monomorph::WeightedPaths& paths, std::int64_t T, std::int64_t vocab_size) {
    return error_of([&] { Loader unused(paths, {.sequence_length = T, .vocab_size = vocab_size}); });
  };
  const monomorph::WeightedPaths two{{sets.paths[1]}, {sets.paths[0]}};
  const std::string short_set = error(two, 23, any_vocabulary);
  CHECK((contains(short_set, "[DATA-08]") && contains(short_set, "set0.pbin")));
  const std::string vocabulary = error(two, 4, tokens_between_sets);
  CHECK((contains(vocabulary, "[DATA-07]") && contains(vocabulary, "set1.pbin")));
  const std::string missing = error({{sets.paths[1]}, {sets.folder.file("nowhere.pbin")}}, 4, any_vocabulary);
  CHECK((contains(missing, "[FILE-01]") && contains(missing, "nowhere.pbin")));
  CHECK(contains(error({}, 4, any_vocabulary), "[DATA-64]"));
  sets.folder.write("empty.pbin", packed_documents({}));
  const std::string empty = error({{sets.paths[1]}, {sets.folder.file("empty.pbin")}}, 4, any_vocabulary);
  CHECK((contains(empty, "[DATA-08]") && contains(empty, "empty.pbin")));

  const Loader loader(two, {.sequence_length = 4, .vocab_size = any_vocabulary});
  sets.folder.write("set0.pbin", counting_file(24));
  const std::string changed = error_of([&] { first_tokens(loader, 0, 1); });
  CHECK((contains(changed, "[DATA-09]") && contains(changed, "set0.pbin")));
}
