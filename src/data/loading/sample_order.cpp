#include <monomorph/data/loading/sample_order.hpp>

namespace monomorph::data {
namespace {

constexpr int n_rounds = 8;

/// The finaliser of SplitMix64: a bijection whose every output bit depends on every input bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

/// A Feistel network over 2 half_bits bits: a permutation whatever the round function is.
std::uint64_t permute_bits(std::uint64_t value, std::uint64_t key, int half_bits) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = value >> half_bits;
  std::uint64_t right = value & mask;
  for (std::uint64_t round = 0; round < n_rounds; ++round) {
    const std::uint64_t next = left ^ (mix(mix(key + round) ^ right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

}  // namespace

SampleOrder::SampleOrder(std::int64_t n_samples, std::uint64_t seed, bool shuffle)
    : n_samples_(n_samples), seed_(seed), shuffle_(shuffle), half_bits_(0) {
  while (half_bits_ < 31 && std::int64_t{1} << (2 * half_bits_) < n_samples) ++half_bits_;
}

std::uint64_t SampleOrder::seed_of_set(std::uint64_t seed, std::size_t set) {
  return set == 0 ? seed : mix(mix(seed) + set);
}

SampleOrder::Place SampleOrder::place(std::int64_t global_sample) const {
  const Place in_order{global_sample / n_samples_, global_sample % n_samples_};
  if (!shuffle_) return in_order;
  const std::uint64_t key = mix(mix(seed_) ^ static_cast<std::uint64_t>(in_order.epoch));
  // Walking along a cycle of the larger permutation until it comes back below n is a permutation of [0, n). As the
  // larger set has at most four times as many members, this takes four steps on average, or fewer.
  auto index = static_cast<std::uint64_t>(in_order.index);
  do index = permute_bits(index, key, half_bits_);
  while (index >= static_cast<std::uint64_t>(n_samples_));
  return {in_order.epoch, static_cast<std::int64_t>(index)};
}

}  // namespace monomorph::data
