// Times what a constraint costs for each token: bench/generation/constraints says of what.
#include "train/inference/constraint.hpp"
#include "train/inference/wanted_text.hpp"

#include <monomorph/core/text_file.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

namespace {

using namespace monomorph;
using namespace monomorph::train;

/// Of this thread on a processor, whatever else runs.
double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Draws of the tokens that may be next: mostly short ones, as models have them, and where it can end, the end soon.
class Writer {
 public:
  Writer(const data::Tokenizer& tokenizer, std::size_t n_ids) : logits_(n_ids) {
    for (std::size_t id = 0; id < n_ids; ++id)
      lengths_.push_back(tokenizer.has_token(static_cast<std::int32_t>(id))
                             ? tokenizer.bytes_of(static_cast<std::int32_t>(id)).size()
                             : 0);
  }

  /// Adds the seconds of every token's mask.
  void write(const std::shared_ptr<const Constraint>& constraint, int most_tokens, std::vector<double>& times) {
    ConstrainedText text(constraint);
    for (int i = 0; i < most_tokens && !text.ended(); ++i) {
      std::ranges::fill(logits_, 0.0f);
      const double start = seconds();
      text.allowed().mask(logits_);
      times.push_back(seconds() - start);
      const auto id = static_cast<std::int32_t>(drawn());
      if (std::ranges::find(constraint->vocabulary->stop_ids(), id) != constraint->vocabulary->stop_ids().end()) return;
      text.accept(id);
    }
  }

 private:
  std::size_t drawn() {
    std::vector<double> weights(logits_.size());
    for (std::size_t id = 0; id < logits_.size(); ++id)
      weights[id] = logits_[id] == 0.0f ? 1.0 / (1.0 + static_cast<double>(lengths_[id])) : 0;
    return static_cast<std::size_t>(std::discrete_distribution<int>(weights.begin(), weights.end())(random_));
  }

  std::vector<float> logits_;
  std::vector<std::size_t> lengths_;
  std::mt19937 random_{1};
};

}  // namespace

/// Usage: program tokenizer.json schema.json texts
int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto tokenizer = data::read_tokenizer(argv[1]);
  const auto schema = json_tree_of(read_text_file(argv[2]));
  if (!schema) return 2;
  double start = seconds();
  const auto vocabulary = std::make_shared<const ConstrainedVocabulary>(*tokenizer, std::vector<std::int32_t>{0});
  const double making = seconds() - start;
  const WantedText wanted{.document = WantedText::Document{GivenSchema{&*schema, "schema"}}};
  start = seconds();
  const auto constraint = std::make_shared<const Constraint>(vocabulary, grammar_of(wanted));
  const double compiling = seconds() - start;
  Writer writer(*tokenizer, vocabulary->n_ids());
  std::vector<double> times;
  for (int i = 0; i < std::atoi(argv[3]); ++i) writer.write(constraint, 400, times);
  std::ranges::sort(times);
  double sum = 0;
  for (const double one : times) sum += one;
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print(
      "{{\"vocabulary\": {}, \"making\": {}, \"compiling\": {}, \"tokens\": {}, \"mean\": {}, \"median\": {}, "
      "\"p99\": {}, \"most\": {}}}\n",
      vocabulary->n_ids(), making, compiling, times.size(), sum / static_cast<double>(times.size()), at(0.5), at(0.99),
      times.back());
}
