// Predicts the runs of a table, a line each, for bench/scaling/run: reads from standard input
//   calibration <products_on_ampere> ... <shared_hop_seconds>   the constants from here on
//   run <model> <gpu> <network or -> <GPUs of a node> <ranks> <micro-batch, 0: assumed> <micro-batches> <sharding>
//       <recompute: none, half, all or least> <elementwise> <attention>
//   end
// and answers each run with a line: tokens/s of a GPU, seconds of a step, exposed seconds, GiB of a rank, whether it
// fits, the micro-batch, and what is recomputed; and the end with an empty line.
#include "recipes.hpp"
#include "train/scaling/device_memory.hpp"
#include "train/scaling/step_prediction.hpp"
#include "train/scaling/strategies.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace monomorph;
using namespace monomorph::train;

namespace {

/// Of a micro-batch, where a source does not say: one sequence, or more up to so many.
constexpr std::int64_t assumed_tokens = 8192;

struct Line {
  double elementwise, attention;
  std::string model, gpu, network, sharding, recompute;
  PlannedRun run;
};

template <class Named> const Named& named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) throw std::runtime_error(fmt::format("no policy {}", name));
  return *found;
}

Calibration read_calibration(std::istream& in) {
  Calibration c;
  in >> c.products_on_ampere >> c.products_on_hopper >> c.products_on_hopper_64gb >> c.contention >> c.network >>
      c.hop_seconds >> c.shared_hop_seconds;
  return c;
}

Line read_run(std::istream& in) {
  Line line;
  PlannedRun& run = line.run;
  in >> line.model >> line.gpu >> line.network >> run.cluster.gpus_per_node >> run.ranks >> run.micro_batch >>
      run.micro_batches >> line.sharding >> line.recompute >> line.elementwise >> line.attention;
  run.cluster.gpu = find_gpu(line.gpu);
  run.cluster.network = find_network(line.network);
  if (!in || run.cluster.gpu == nullptr) throw std::runtime_error("bad line");
  run.strategy.sharding = named(sharding_strategies(run.ranks, run.cluster.gpus_per_node), line.sharding).values;
  return line;
}

void answer(Line line, Calibration calibration) {
  calibration.elementwise = line.elementwise;
  calibration.attention = line.attention;
  const plan::PlannedRecipe& recipe = bench::planned_recipes().at(line.model);
  if (line.run.micro_batch == 0)
    line.run.micro_batch = std::max<std::int64_t>(1, assumed_tokens / recipe.trunk->context_length);
  const std::vector<std::pair<std::string, std::string>> policies{{"none", "KeepAll"},
                                                                  {"half", "Fraction<1, 2>"},
                                                                  {"all", "EveryBlock"}};
  for (const auto& [word, name] : policies) {
    if (line.recompute != word && line.recompute != "least") continue;
    line.run.strategy.checkpointing = named(checkpointing_strategies(), name).values;
    const StepPrediction p = predict(recipe, line.run, calibration);
    if (line.recompute == "least" && !p.fits && word != "all") continue;
    std::cout << fmt::format("{} {} {} {} {} {} {}\n", p.tokens_per_second, p.step_seconds, p.exposed_seconds,
                             static_cast<double>(bytes_on_gpu(p.memory)) / (1 << 30), p.fits ? 1 : 0,
                             line.run.micro_batch, word);
    return;
  }
}

}  // namespace

int main() {
  Calibration constants = calibration();
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream in(text);
    std::string word;
    in >> word;
    if (word == "calibration") constants = read_calibration(in);
    if (word == "run") answer(read_run(in), constants);
    if (word == "end") std::cout << std::endl;
  }
}
