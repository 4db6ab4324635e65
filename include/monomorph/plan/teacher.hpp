#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/plan/rotary.hpp>
#include <monomorph/policy/precision_policy.hpp>

/// The model that a student learns from, where the recipe's objective has one (objective/distillation.hpp): a second
/// model beside the recipe's own, of which ranks hold the parts that they hold of the student, and which has no
/// gradients, no optimiser and nothing that backward reads.
namespace monomorph::plan {

namespace detail {
/// A policy's dtypes without its products in fp8, whose scales follow from steps that a teacher does not make.
template <class Precision> struct UnscaledPrecision {
  static constexpr DType compute_dtype = Precision::compute_dtype, gradient_dtype = Precision::gradient_dtype,
                         reduce_dtype = Precision::reduce_dtype, master_dtype = Precision::master_dtype;
};
constexpr DecoderSpec with_context(DecoderSpec model, std::int64_t tokens) {
  model.context_length = tokens;
  return model;
}
}  // namespace detail

/// The teacher of R as a recipe: its model is its own, over as many tokens as the student's, and how it is computed and
/// divided among ranks is R's.
template <class R> struct TeacherOf {
  using Source = typename objective_of<R>::Teacher;
  static constexpr DecoderSpec model = detail::with_context(Source::model, trunk_of<R>.context_length);
  static constexpr MeshSpec mesh = mesh_of<R>;
  using layers = std::remove_const_t<decltype(layers_of<Source>)>;
  using attention = attention_of<Source>;
  using sharding = typename R::sharding;
  using precision = std::conditional_t<scales_products<typename R::precision>,
                                       detail::UnscaledPrecision<typename R::precision>, typename R::precision>;
  using checkpointing = typename R::checkpointing;
  using optimizer = typename R::optimizer;
  using device = device_of<R>;
};

/// Units of the teacher; 0 without one. Their collectives are numbered behind the student's.
template <class R>
inline constexpr int n_teacher_units = [] {
  if constexpr (has_teacher<objective_of<R>>)
    return n_units<TeacherOf<R>>;
  else
    return 0;
}();

/// Everything whose size follows the micro-batch in a pass without backward, up to what the last layer multiplies its
/// table with: two places that outputs of layers take in turn, one for what each computes with, and their Temporary,
/// which some layers compute in on the way forward, too, as experts do.
template <class R> struct ForwardActivations {
  std::int64_t n_tokens;
  Layout buffer, statistics;
  std::array<Slice, 2> y_MD{};
  Slice temporary;

  constexpr explicit ForwardActivations(std::int64_t micro_batch) : n_tokens(micro_batch * trunk_of<R>.context_length) {
    for (Slice& y : y_MD) y = buffer.take({n_tokens, trunk_of<R>.d_model});
    begin_ = buffer.elements;
    Layout longest{begin_}, longest_statistics;
    const auto reach = [&](const Layout& activations, const Layout& of_statistics) {
      longest.elements = larger_of(longest.elements, activations.elements);
      longest_statistics.elements = larger_of(longest_statistics.elements, of_statistics.elements);
    };
    for (int i = 0; i < last_layer<R>; ++i)
      with_layer<R>(i, [&](auto layer) {
        Layout activations{begin_}, of_statistics;
        place(layer, activations, of_statistics);
        reach(activations, of_statistics);
      });
    Layout activations{begin_}, of_statistics;
    typename LastLayer<R>::DecodeTemporary(activations, of_statistics, n_tokens);
    reach(activations, of_statistics);
    temporary.offset = longest.elements;
    buffer.elements = longest.elements + temporary_elements<R>(n_tokens);
    statistics = longest_statistics;
  }

  constexpr Slice y(int layer) const { return layer < 0 ? Slice{} : y_MD[static_cast<std::size_t>(layer % 2)]; }
  template <class Layer> constexpr typename Layer::Saved saved(Layer layer) const {
    Layout activations{begin_}, of_statistics;
    return place(layer, activations, of_statistics);
  }
  /// What the last layer's norm makes.
  constexpr typename LastLayer<R>::DecodeTemporary last() const {
    Layout activations{begin_}, of_statistics;
    return {activations, of_statistics, n_tokens};
  }

 private:
  template <class Layer>
  constexpr typename Layer::Saved place(Layer, Layout& activations, Layout& of_statistics) const {
    return place_saved<Layer>({activations, activations, Recompute::block},
                              {of_statistics, of_statistics, Recompute::block}, n_tokens, 1);
  }
  std::int64_t begin_ = 0;
};

/// Bytes of a rank that the teacher takes, in each memory space.
struct TeacherBytes {
  std::int64_t device = 0, host = 0;
};
template <class R> constexpr TeacherBytes teacher_bytes(const ShardingValues& sharding, std::int64_t micro_batch) {
  if constexpr (has_teacher<objective_of<R>>) {
    using Teacher = TeacherOf<R>;
    const Shards<Teacher> shards(sharding);
    const ForwardActivations<Teacher> activations(micro_batch);
    const auto compute = size_of(Teacher::precision::compute_dtype),
               statistic = size_of(statistics_dtype(Teacher::precision::compute_dtype));
    TeacherBytes bytes{
        .device = (shards.params.wholes.elements + shards.arrivals.elements + activations.buffer.elements) * compute +
                  activations.statistics.elements * statistic};
    (shards.params_on_host() ? bytes.host : bytes.device) += shards.params.shards.elements * compute;
    bytes.device += rotary_elements<Teacher> * statistic;
    return bytes;
  } else {
    return {};
  }
}

}  // namespace monomorph::plan
