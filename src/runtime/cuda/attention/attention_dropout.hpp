#pragma once
#include "runtime/cuda/host/before_run.hpp"
#include "runtime/kernels/dropout_stream.hpp"
#include "runtime/kernels/host_device.hpp"

#include <monomorph/core/philox.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>

#include <array>

/// Dropout of probabilities, drawn as on CPUs: from the sample, the query's position and head · T + the key's position.
namespace monomorph::cuda {
namespace {

using PhiloxKey = std::array<std::uint32_t, 2>;
MONOMORPH_HOST_DEVICE inline std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
MONOMORPH_HOST_DEVICE inline std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// What all probabilities share of one run of a kernel.
struct AttentionDropoutRun {
  PhiloxKey step{};
  std::uint64_t first_sample = 0;

  AttentionDropoutRun() = default;
  explicit AttentionDropoutRun(const DropoutKey& key) : first_sample(key.first_sample) {
    const auto words = random::philox({low_word(key.step), high_word(key.step), key.layer, key.site},
                                      {low_word(key.seed), high_word(key.seed)});
    step = {words[0], words[1]};
  }
};

inline OfRun<AttentionDropoutRun> attention_dropout_run(const DropoutKey& key) {
  const AttentionDropoutRun run(key);
  if (key.rate <= 0 || key.of_run == nullptr) return {run};
  return {run, made_before_run([key] { return AttentionDropoutRun(of_this_run(key)); })};
}

struct AttentionDropout {
  bool drops = false;
  OfRun<AttentionDropoutRun> run{};
  std::uint64_t drop_below = 0;
  double kept_factor = 1;  ///< 1 / (1 - rate)

  AttentionDropout() = default;
  explicit AttentionDropout(const DropoutKey& key)
      : drops(key.rate > 0),
        run(attention_dropout_run(key)),
        drop_below(static_cast<std::uint64_t>(key.rate * 4294967296.0)),
        kept_factor(1 / (1 - key.rate)) {}

  /// What all keys of a query share.
  MONOMORPH_HOST_DEVICE PhiloxKey query(std::int64_t sample, std::int64_t position) const {
    const AttentionDropoutRun now = run.now();
    const std::uint64_t global = now.first_sample + static_cast<std::uint64_t>(sample);
    const auto words = random::philox({low_word(global), high_word(global), static_cast<std::uint32_t>(position),
                                       static_cast<std::uint32_t>(random::Purpose::dropout)},
                                      now.step);
    return {words[0], words[1]};
  }

  /// What a probability is multiplied by.
  template <class T> MONOMORPH_HOST_DEVICE T factor(const PhiloxKey& query, std::int64_t element) const {
    const auto counter = static_cast<std::uint64_t>(element) / 4;
    const auto words = random::philox({low_word(counter), high_word(counter), 0, 0}, query);
    const bool odd = element % 2 != 0, late = element % 4 >= 2;  // an index would put the words in memory
    const std::uint32_t word = late ? (odd ? words[3] : words[2]) : (odd ? words[1] : words[0]);
    return word < drop_below ? T{0} : static_cast<T>(kept_factor);
  }
};

}  // namespace
}  // namespace monomorph::cuda
