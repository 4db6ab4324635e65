// The hyperparameters of the policies that come with Monomorph, as references to fields: compiled here, once, and not
// with every recipe.
#include <monomorph/core/hparams.hpp>
#include <monomorph/objective/contrastive_pairs.hpp>
#include <monomorph/objective/distillation.hpp>
#include <monomorph/objective/masked_tokens.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/objective/preferences.hpp>
#include <monomorph/observer/tensor_norms.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/lion.hpp>
#include <monomorph/optim/muon.hpp>
#include <monomorph/optim/sgd.hpp>
#include <monomorph/schedule/warmup_decay_hparams.hpp>

BOOST_HANA_ADAPT_STRUCT(monomorph::NoHparams);
BOOST_HANA_ADAPT_STRUCT(monomorph::optim::AdamWHparams, lr, beta1, beta2, epsilon, weight_decay);
BOOST_HANA_ADAPT_STRUCT(monomorph::optim::AverageHparams, decay);
BOOST_HANA_ADAPT_STRUCT(monomorph::optim::SgdHparams, lr, momentum, nesterov, weight_decay);
BOOST_HANA_ADAPT_STRUCT(monomorph::optim::LionHparams, lr, beta1, beta2, weight_decay);
BOOST_HANA_ADAPT_STRUCT(monomorph::optim::MuonHparams, lr, momentum, nesterov, scale, weight_decay, iterations);
BOOST_HANA_ADAPT_STRUCT(monomorph::objective::NextTokenHparams, label_smoothing, z_loss);
BOOST_HANA_ADAPT_STRUCT(monomorph::objective::MaskedTokensHparams, mask_fraction, random_fraction, kept_fraction,
                        label_smoothing, z_loss);
BOOST_HANA_ADAPT_STRUCT(monomorph::objective::ContrastivePairsHparams, temperature, symmetric);
BOOST_HANA_ADAPT_STRUCT(monomorph::objective::DistillationHparams, temperature, teacher_weight, divergence);
BOOST_HANA_ADAPT_STRUCT(monomorph::objective::PreferencesHparams, beta, kind, label_smoothing);
BOOST_HANA_ADAPT_STRUCT(monomorph::observer::TensorNormsHparams, every);
BOOST_HANA_ADAPT_STRUCT(monomorph::schedule::WarmupDecayHparams, kind, warmup_steps, decay_steps, final_fraction);

namespace monomorph {

template void append_fields(NoHparams&, FieldList&);
template void append_fields(optim::AdamWHparams&, FieldList&);
template void append_fields(optim::AverageHparams&, FieldList&);
template void append_fields(optim::SgdHparams&, FieldList&);
template void append_fields(optim::LionHparams&, FieldList&);
template void append_fields(optim::MuonHparams&, FieldList&);
template void append_fields(objective::NextTokenHparams&, FieldList&);
template void append_fields(objective::MaskedTokensHparams&, FieldList&);
template void append_fields(objective::ContrastivePairsHparams&, FieldList&);
template void append_fields(objective::DistillationHparams&, FieldList&);
template void append_fields(objective::PreferencesHparams&, FieldList&);
template void append_fields(observer::TensorNormsHparams&, FieldList&);
template void append_fields(schedule::WarmupDecayHparams&, FieldList&);

}  // namespace monomorph
