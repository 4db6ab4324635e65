// What becomes of the history of maxima (docs/reference/fp8.md) where weights travel, and between recipes that have
// another one, or none.
#include "fixtures/weights/recipes/llama.hpp"
#include "support/adamw_update.hpp"
#include "support/error_of.hpp"
#include "support/training_program.hpp"
#include "train/run/weights/start_weights.hpp"
#include "train/weights/tensor_places.hpp"
#include "weights_check.hpp"

#include <algorithm>

namespace monomorph::testing {
namespace {

struct OfBf16 : recipes::llama {
  using precision = monomorph::precision::Bf16Mixed;
};
struct OfFp8 : recipes::llama {
  using precision = monomorph::precision::Fp8Mixed;
};
template <class R> struct WithAdapters : R {
  using finetuning = monomorph::finetuning::LowRank<LowRankSpec{.rank = 3, .alpha = 6}>;
};
struct OfFourUpdates : recipes::llama {
  struct precision : monomorph::precision::Fp8Mixed {
    static constexpr int amax_history = 4;
  };
};

bool is_history(const std::string& name) { return name.ends_with("amax_history"); }

/// Tensors in two groups.
struct Parts {
  Tensors weights, histories;
};
Parts parts_of(train::TrainingStep& step) {
  Parts parts;
  for (auto& [name, values] : values_of(step.parameters()))
    (is_history(name) ? parts.histories : parts.weights)[name] = values;
  return parts;
}
bool are_empty(const Tensors& histories) {
  return std::ranges::all_of(histories, [](const auto& history) {
    return std::ranges::all_of(history.second, [](double value) { return value == 0; });
  });
}

/// A run of some steps, and its checkpoint.
template <Recipe R> struct Run {
  static constexpr std::int64_t T = R::model.context_length;
  train::RecipeProgram recipe = training_program<R>();
  std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step{*communicator, batch, 1};

  void train(int n_steps) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < batch * T; ++i) ids.push_back(static_cast<std::int32_t>(7 * i % 64));
    for (int number = 1; number <= n_steps; ++number) {
      step.accumulate({ids.data(), ids.data(), 0}, static_cast<std::uint64_t>(number), {});
      REQUIRE(step.read(step.decide({})).applied);
      step.update(adamw_hparams(), {});
    }
  }
  void save(const std::string& folder) {
    train::save_run(folder, {}, recipe, {}, {.step = 2, .updates = 2, .samples = 8, .tokens = 64}, {}, step,
                    *communicator);
  }
  std::string error_of_resuming(const std::string& folder) {
    return error_of([&] { train::restore_run(train::find_checkpoint(folder), recipe, step, true); });
  }
  /// As weights.from does.   @return its notes
  std::vector<std::string> start_from(const std::string& path) {
    train::Hparams hparams = train::default_hparams(recipe.hparams);
    hparams.weights.from.value = path;
    return train::load_start_weights(recipe, hparams, step, *communicator);
  }
};

/// Starts R from weights.   @param has_other_precision they are of a run that says so
template <Recipe R>
void check_start(const std::string& folder, const Tensors& weights, std::size_t n_histories,
                 bool has_other_precision = false) {
  Run<R> run;
  const std::vector<std::string> notes = run.start_from(folder);
  CAPTURE(notes);
  const Parts parts = parts_of(run.step);
  CHECK(parts.weights == weights);
  CHECK(parts.histories.size() == n_histories);
  CHECK(are_empty(parts.histories));
  const bool says_so = std::ranges::any_of(notes, [](const auto& note) { return note == train::records_begin_anew; });
  CHECK(says_so == (n_histories > 0));
  const auto n_precisions =
      std::ranges::count_if(notes, [](const auto& note) { return contains(note, ", precision is "); });
  CHECK(n_precisions == (has_other_precision ? 1 : 0));
  CHECK(notes.size() == (n_histories > 0 ? 2u : 1u) + (has_other_precision ? 1u : 0u));  // beside whence they are
  run.train(1);
  CHECK(are_empty(parts_of(run.step).histories) == (n_histories == 0));
}

constexpr std::size_t n_histories = 2 * 2;  // of attention and MLP of two blocks

}  // namespace

TEST_CASE("a model's folder gives its weights an empty history, which an import says, and an export has none") {
  const TemporaryFolder folder;
  Run<OfBf16> in_bf16;
  in_bf16.start_from(fixture("llama"));
  const Tensors weights = parts_of(in_bf16.step).weights;

  Run<OfFp8> run;
  const auto imported = train::import_weights(run.recipe, fixture("llama"), folder / "imported");
  CHECK(imported.notes == std::vector<std::string>{std::string(train::records_begin_anew)});
  run.train(1);
  CHECK_FALSE(are_empty(parts_of(run.step).histories));
  train::restore_run(imported.checkpoint, run.recipe, run.step, false);
  const Parts parts = parts_of(run.step);
  CHECK(parts.weights == weights);
  CHECK(parts.histories.size() == n_histories);
  CHECK(are_empty(parts.histories));

  train::export_folder(run.recipe, imported.checkpoint, folder / "exported", {});
  CHECK(contents_of(folder / "exported") == contents_of(fixture("llama")));
  check_start<OfFp8>(fixture("llama"), weights, n_histories);
  check_start<OfFp8>(folder / "imported", weights, n_histories);
}

namespace {
/// A run of InFp8 gives its weights to recipes with and without a history, and takes those of a run of InBf16.
/// @param more checks in the folder, where the run's checkpoint is `fp8` and its export `exported`
template <Recipe InFp8, Recipe InBf16> void check_travelling(const auto& more) {
  const TemporaryFolder folder;
  Run<InFp8> in_fp8;
  in_fp8.train(2);
  in_fp8.save(folder / "fp8");
  const Parts of_fp8 = parts_of(in_fp8.step);
  REQUIRE_FALSE(are_empty(of_fp8.histories));
  check_start<InFp8>(folder / "fp8", of_fp8.weights, n_histories);
  check_start<InBf16>(folder / "fp8", of_fp8.weights, 0, true);
  CHECK(in_fp8.error_of_resuming(folder / "fp8") == "(no error)");

  train::export_folder(in_fp8.recipe, train::find_checkpoint(folder / "fp8"), folder / "exported", {});
  for (const auto& [name, tensor] : contents_of(folder / "exported")) CHECK_FALSE(contains(name, "amax"));
  more(folder, of_fp8.weights);

  Run<InBf16> in_bf16;
  in_bf16.train(2);
  in_bf16.save(folder / "bf16");
  check_start<InFp8>(folder / "bf16", parts_of(in_bf16.step).weights, n_histories, true);
}
}  // namespace

TEST_CASE("weights of a run come to recipes with a history and without, and begin an empty one") {
  check_travelling<OfFp8, OfBf16>([](const TemporaryFolder& folder, const Tensors& weights) {
    check_start<OfFourUpdates>(folder / "fp8", weights, n_histories, true);
    check_start<OfFp8>(folder / "exported", weights, n_histories);
    check_start<OfBf16>(folder / "exported", weights, 0);
  });
}

TEST_CASE("weights with adapters travel between recipes in fp8 and in bf16, and are exported without a history") {
  check_travelling<WithAdapters<OfFp8>, WithAdapters<OfBf16>>([](const auto&, const auto&) {});
}

TEST_CASE("a run with another history, or none, is not resumed, and the message names it") {
  const TemporaryFolder folder;
  Run<OfFp8> in_fp8;
  Run<OfBf16> in_bf16;
  Run<OfFourUpdates> shorter;
  in_fp8.train(1);
  in_bf16.train(1);
  in_fp8.save(folder / "fp8");
  in_bf16.save(folder / "bf16");
  const auto check = [&](auto& run, const std::string& from, const std::string& difference) {
    const std::string message = run.error_of_resuming(folder / from);
    CAPTURE(message);
    CHECK(message.starts_with("[RUN-04]"));
    CHECK(contains(message, "amax_history: " + difference));
  };
  check(in_bf16, "fp8", "16 updates there, none here");
  check(in_fp8, "bf16", "none there, 16 updates here");
  check(shorter, "fp8", "16 updates there, 4 updates here");
  CHECK(in_fp8.error_of_resuming(folder / "fp8") == "(no error)");
}

}  // namespace monomorph::testing
