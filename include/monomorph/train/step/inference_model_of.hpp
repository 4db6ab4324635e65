#pragma once
#include <monomorph/train/step/cached_token_pass.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <monomorph/train/step/rotary_tables.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// The model of a recipe all of whose layers extend sequences against a cache, on one rank.
template <class R> class InferenceModelOf final : public InferenceModel {
  static constexpr DType compute = R::precision::compute_dtype;

 public:
  InferenceModelOf() : arena_(bytes(), allocator(queue_)) {
    for (int u = 0; u < plan::n_units<R>; ++u) {
      const ParameterLayout layout = plan::unit_layout<R>(u);
      units_.emplace_back().master = arena_.take(layout.elements, compute);
      describe(layout, u, plan::is_block<R>(u) ? plan::block_of_layer<R>(u) : -1, nullptr, 0, units_.back());
    }
    tables_ = RotaryTables<R>(queue_, arena_);
  }

  View download(View view, HostBuffer& buffer) const override { return copy_to_host(queue_, view, buffer); }
  View place_for_upload(View view, HostBuffer& buffer) const override { return place_on_host(queue_, view, buffer); }
  void upload(View place, View view) override { copy_from_host(queue_, place, view); }
  std::vector<StateTensor> parameters() override { return state_tensors(units_, &UnitState::master); }
  Owned<TokenPass> token_pass(const PassSizes& sizes) override {
    std::vector<UnitBuffer> params;
    params.reserve(units_.size());
    for (const UnitState& unit : units_) params.push_back(unit.master);
    return make_owned<CachedTokenPass<R>>(queue_, sizes, std::move(params), tables_);
  }

 private:
  static std::int64_t bytes() {
    std::int64_t elements = 0;
    for (int u = 0; u < plan::n_units<R>; ++u) elements += align_up(plan::unit_layout<R>(u).elements);
    return elements * size_of(compute) + RotaryTables<R>::bytes;
  }

  typename device_of<R>::Queue queue_{};
  Arena arena_;
  std::vector<UnitState> units_;
  RotaryTables<R> tables_;
};

}  // namespace monomorph::train
