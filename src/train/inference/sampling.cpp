#include <monomorph/train/inference/sampling.hpp>

#include "train/inference/logits.hpp"

#include "train/inference/candidates.hpp"
#include "train/inference/logit_adjustments.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {

struct Sampler::State {
  SamplingSettings settings;
  TextNumber number;
  LogitAdjustments adjustments{settings};
  std::vector<double> logits{};
  Candidates candidates{};

  void adjust(std::span<const float> given) {
    check_finite(given);
    logits.assign(given.begin(), given.end());
    adjustments.apply(logits);
  }
  std::int32_t most_probable() const {
    return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  }
  /// Leaves what may be drawn among the candidates.   @return the sum of their probabilities
  double choose_candidates() {
    candidates.assign(logits, settings.temperature);
    if (settings.top_k) candidates.keep(static_cast<std::size_t>(*settings.top_k));
    if (settings.top_p < 1) candidates.keep(candidates.count_of(settings.top_p * candidates.total()));
    if (settings.min_p > 0) candidates.keep_from(settings.min_p);
    return candidates.total();
  }
  /// @param point from 0 to 1
  std::int32_t candidate_at(double point) {
    const double total = choose_candidates();
    return candidates[candidates.rank_above(point * total)].id;
  }
};

Sampler::Sampler(const SamplingSettings& settings, TextNumber number) : state_(new State{settings, number}) {}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;

void Sampler::read_prompt(std::span<const std::int32_t> ids) { state_->adjustments.add_prompt(ids); }

void Sampler::count(std::int32_t id) { state_->adjustments.add(id); }

std::int32_t Sampler::draw(std::span<const float> logits, std::int64_t index) {
  State& s = *state_;
  s.adjust(logits);
  const random::Stream stream{s.settings.seed, random::Purpose::sampling, s.number.prompt, s.number.sample};
  const std::int32_t id = s.settings.temperature <= 0
                              ? s.most_probable()
                              : s.candidate_at(random::uniform(stream, static_cast<std::uint64_t>(index)));
  count(id);
  return id;
}

std::vector<Candidate> Sampler::candidates(std::span<const float> logits) {
  State& s = *state_;
  s.adjust(logits);
  const double total = s.choose_candidates();
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < s.candidates.size(); ++i)
    all.push_back({s.candidates[i].id, s.candidates[i].probability / total});
  return all;
}

std::vector<Candidate> log_probabilities(std::span<const float> logits, std::int64_t n_named, std::int32_t id,
                                         std::int64_t n) {
  const double sum = log_sum(logits);
  std::vector<Candidate> found{{id, logits[static_cast<std::size_t>(id)] - sum}};
  if (n == 0) return found;
  Candidates candidates;
  candidates.assign(std::vector<double>(logits.begin(), logits.begin() + n_named), 1);
  for (std::size_t i = 0; i < std::min(candidates.size(), static_cast<std::size_t>(n)); ++i) {
    const std::int32_t other = candidates[i].id;
    found.push_back({other, logits[static_cast<std::size_t>(other)] - sum});
  }
  return found;
}

}  // namespace monomorph::train
