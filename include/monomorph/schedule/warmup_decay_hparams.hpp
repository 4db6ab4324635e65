#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/schedule/warmup_decay.hpp>

#include <optional>

namespace monomorph::schedule {

enum class DecayKind { constant, linear, cosine, wsd, inverse_sqrt };

struct WarmupDecayHparams {
  Field<DecayKind> kind{DecayKind::cosine, "learning rate after the warm-up (wsd: stable, then linear decay)"};
  Field<std::int64_t> warmup_steps{0, 0, 1'000'000'000, "steps of linear warm-up, from lr / (warmup_steps + 1)"};
  Field<std::optional<std::int64_t>> decay_steps{std::nullopt, "remaining", 1, 1'000'000'000,
                                                 "steps from peak to final learning rate; linear and cosine: after the "
                                                 "warm-up, wsd: the last ones of the run (must "
                                                 "be given)"};
  Field<double> final_fraction{0.1, 0.0, 1.0, "final learning rate as a fraction of lr; inverse_sqrt: lowest"};
};

}  // namespace monomorph::schedule

extern template void monomorph::append_fields(monomorph::schedule::WarmupDecayHparams&, FieldList&);

template <> struct monomorph::EnumNames<monomorph::schedule::DecayKind> {
  static constexpr std::string_view names[] = {"constant", "linear", "cosine", "wsd", "inverse_sqrt"};
};
