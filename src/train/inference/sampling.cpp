#include <monomorph/train/inference/sampling.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

std::int32_t greedy(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

/// Comes before anything is sorted or compared, since NaN has no order.
void check_finite(std::span<const float> logits) {
  const bool has_nan = std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); });
  if (has_nan || !std::isfinite(*std::ranges::max_element(logits)))
    throw Error("RUN-14",
                "the model's logits are not finite: its training diverged; generate from an earlier checkpoint");
}

}  // namespace

std::int32_t Sampler::draw(std::span<const float> logits, std::int64_t index) {
  check_finite(logits);
  if (settings_.temperature <= 0) return greedy(logits);
  const double greatest = *std::ranges::max_element(logits);
  candidates_.clear();
  for (std::size_t id = 0; id < logits.size(); ++id)
    candidates_.emplace_back(std::exp((logits[id] - greatest) / settings_.temperature), static_cast<std::int32_t>(id));
  std::ranges::sort(candidates_, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (settings_.top_k && *settings_.top_k < std::ssize(candidates_))
    candidates_.resize(static_cast<std::size_t>(*settings_.top_k));

  double total = 0;
  for (const auto& [weight, id] : candidates_) total += weight;
  double kept = 0;
  std::size_t n = 0;
  while (n < candidates_.size() && (n == 0 || kept < settings_.top_p * total)) kept += candidates_[n++].first;

  const random::Stream stream{settings_.seed, random::Purpose::sampling};
  double left = random::uniform(stream, static_cast<std::uint64_t>(index)) * kept;
  for (std::size_t i = 0; i + 1 < n; ++i)
    if ((left -= candidates_[i].first) < 0) return candidates_[i].second;
  return candidates_[n - 1].second;
}

}  // namespace monomorph::train
