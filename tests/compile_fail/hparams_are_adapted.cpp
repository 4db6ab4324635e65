// expect-error: \[RECIPE-14\] the Hparams of a policy must be listed by BOOST_HANA_ADAPT_STRUCT
// expect-text: Hparams
#include <monomorph/core/hparams.hpp>
struct Hparams {
  monomorph::Field<double> lr{1e-3, 0.0, 1.0, "peak learning rate"};
};
#if !NEGATIVE
BOOST_HANA_ADAPT_STRUCT(Hparams, lr);
#endif
template void monomorph::append_fields(Hparams&, FieldList&);
