// Times prompts and tokens of a model with random weights: bench/generation/run says of what.
#include "step/recipes.hpp"
#include "train/inference/prompt_batch.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/train/step/session.hpp>
#include <monomorph/train/step/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using R = RECIPE;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One round: prompts of `prompt` tokens for `batch` sequences, then `tokens` tokens of each.
void measure(Session& session, int batch, int prompt, int tokens) {
  std::vector<int> sequences;
  std::vector<std::int32_t> ids(static_cast<std::size_t>(prompt));
  std::iota(ids.begin(), ids.end(), 1);
  auto start = Clock::now();
  PromptBatch prompts(session);
  for (int i = 0; i < batch; ++i) {
    sequences.push_back(session.open());
    prompts.add(sequences.back(), ids, [](Logits) {});
  }
  prompts.read();
  const double prefill = seconds_since(start);
  std::vector<std::int32_t> next(static_cast<std::size_t>(batch), 7);
  start = Clock::now();
  for (int i = 0; i < tokens; ++i) {
    const auto logits = session.decode(sequences, next);
    for (std::size_t s = 0; s < next.size(); ++s)
      next[s] = static_cast<std::int32_t>(std::max_element(logits[s].begin(), logits[s].end()) - logits[s].begin());
  }
  const double decode = seconds_since(start);
  for (const int sequence : sequences) session.close(sequence);
  fmt::print("{{\"prefill\": {}, \"decode\": {}}}\n", batch * prompt / prefill, batch * tokens / decode);
}

}  // namespace

/// Usage: program batch prompt tokens rounds
int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int batch = std::atoi(argv[1]), prompt = std::atoi(argv[2]), tokens = std::atoi(argv[3]);
  const auto communicator = one_rank();
  Step<R> model(*communicator, 0, 0, 0, {}, Transfers::Timing::at_once, plan::Purpose::inference);
  std::uint32_t layer = 0;
  for (const StateTensor& tensor : model.parameters())
    cpu::fill_normal(cpu::Queue{}, tensor.view, {1, random::Purpose::initialization, ++layer, 0}, 0, 0.02, 0);
  constexpr std::int64_t most_tokens = std::min<std::int64_t>(2048, R::model.context_length);  // as generate has it
  Session session(model.token_pass({.tokens = std::max<std::int64_t>(batch, most_tokens),
                                    .wanted = batch,
                                    .sequences = batch,
                                    .pages = batch * pages_of(prompt + tokens)}));
  for (int round = 0; round < std::atoi(argv[4]); ++round) measure(session, batch, prompt, tokens);
}
