#pragma once
#include <monomorph/block/composed_block.hpp>
#include <monomorph/model/dense_mlp.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/model/self_attention.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

/// The bodies of ComposedBlock.
namespace monomorph {

namespace detail {

/// out = residual + what the part gives, through dropout.   @param result where the part's result may lie before it is
/// added; it may be `out`, and then out must not be the residual
template <class R, class Part> void add_result(const PartTensors<Part>& t, View residual, View result, View out) {
  if constexpr (drops_residual<R>) {
    Part::project(t, View{}, result);
    dropout_add(t.queue, result, residual, out, dropout_key(t.t, Part::out_site, trunk_of<R>.dropout.residual));
  } else {
    Part::project(t, residual, out);
  }
}

/// The gradient of what was added to the residual stream: dx itself, or dx through the mask.
template <class R, class Part> View gradient_of_result(const TensorsOf<R>& t, Slice dropped) {
  if constexpr (!drops_residual<R>) return t.dx_MD;
  dropout(t.queue, t.dx_MD, t.activations[dropped], dropout_key(t, Part::out_site, trunk_of<R>.dropout.residual));
  return t.activations[dropped];
}

/// One pass through a sublayer.
template <class R, BlockOrder order, template <class Tower> class PartOf> struct SublayerPass {
  using Layer = Sublayer<R, order, PartOf>;
  using Part = typename Layer::Part;
  const TensorsOf<R>& t;
  const typename Layer::Params& p;
  const typename Layer::Saved& saved;
  const typename Part::Temporary& temporary;
  Slice din_MD, dresult_MD;
  PartTensors<Part> part{t, p.part, saved.part, temporary};

  View in(View x) const {
    if constexpr (Layer::rounds_in) return model::kept_input(part, 0, saved.in_MD);
    return Layer::norm_comes_first ? t.activations[saved.in_MD] : x;
  }
  /// What the part's result is added to.
  View residual(View x) const { return order == BlockOrder::normed_residual ? in(x) : x; }
  View to_norm() const { return t.activations[saved.to_norm_MD]; }

  /// What backward reads, as far as `what` names it, but for what comes from the part's last product.
  void compute(View x, auto what) const {
    model::choose_scales(part, what);
    if constexpr (Layer::rounds_in)
      round_in(x, what);
    else if constexpr (Layer::norm_comes_first)
      if (what.norm) model::normalize<R>(t, what, p.norm_before, saved.norm_before, x, in(x));
    Part::compute(part, in(x), what);
  }
  void round_in(View x, auto what) const {
    const Recompute again = what;
    const ScaledProduct first = model::scaled_product(part, 0);
    if (what.norm)
      scaled_normalize(t.queue, model::normed_input<R>(t, what, p.norm_before, saved.norm_before, x), in(x), first);
    else if (again.*Part::first_product)
      scaled_input_again(t.queue, in(x), first);
  }
  /// The part's last product, to the residual stream or to the norm behind it.
  void project(View x, View y) const {
    if constexpr (!Layer::norm_comes_last)
      add_result<R>(part, residual(x), y, y);
    else if constexpr (order == BlockOrder::post_norm)
      add_result<R>(part, x, to_norm(), to_norm());
    else
      Part::project(part, View{}, to_norm());
  }
  /// From there to the residual stream.
  void finish(View x, View y, auto what) const {
    if constexpr (Layer::norm_comes_last) model::normalize<R>(t, what, p.norm_after, saved.norm_after, to_norm(), y);
    if constexpr (order == BlockOrder::sandwich_norm && drops_residual<R>)
      dropout_add(t.queue, y, x, y, dropout_key(t, Part::out_site, trunk_of<R>.dropout.residual));
    else if constexpr (order == BlockOrder::sandwich_norm)
      add(t.queue, x, y);
  }
  void forward(View x, View y) const {
    compute(x, model::AllOfBlock{});
    project(x, y);
    finish(x, y, model::AllOfBlock{});
  }

  /// dx from dy, in its place. Gradients of activations take the place of these.
  void backward(View x) const {
    if constexpr (order == BlockOrder::post_norm)
      model::normalize_backward<R>(t, p.norm_after, saved.norm_after, t.dx_MD, to_norm(), t.dx_MD, false);
    View dresult = gradient_of_result<R, Part>(t, dresult_MD);
    if constexpr (order == BlockOrder::sandwich_norm) {
      model::normalize_backward<R>(t, p.norm_after, saved.norm_after, dresult, to_norm(), t.activations[dresult_MD],
                                   false);
      dresult = t.activations[dresult_MD];
    }
    if constexpr (Layer::norm_comes_first) {
      constexpr bool passes_norm = order == BlockOrder::normed_residual;  // the residual stream does
      const View din = Layer::rounds_in ? t.activations[din_MD] : in(x);
      Part::backward(part, in(x), dresult, din, false);
      if constexpr (passes_norm) add(t.queue, t.dx_MD, din);
      model::normalize_backward<R>(t, p.norm_before, saved.norm_before, din, x, t.dx_MD, !passes_norm);
    } else {
      Part::backward(part, x, dresult, t.dx_MD, true);
    }
  }
};

/// One pass through a block of two sublayers.
template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct ComposedPass {
  using Block = ComposedBlock<R, order, AttentionOf, MlpOf>;
  static constexpr typename Block::Params p{};
  const TensorsOf<R>& t;
  const typename Block::Saved& saved;
  typename Block::Temporary temporary = placed(t);
  SublayerPass<R, order, AttentionOf> attention{
      t, p.attention, saved.attention, temporary.parts.attention, temporary.din_MD, temporary.dresult_MD};
  SublayerPass<R, order, MlpOf> mlp{t, p.mlp, saved.mlp, temporary.parts.mlp, temporary.din_MD, temporary.dresult_MD};
  View middle = t.activations[saved.middle_MD];

  void recompute(auto what) const {
    const Recompute again = what;
    attention.compute(t.x_MD, what);
    if (again.projection) attention.project(t.x_MD, middle);
    if (again.*Block::Saved::middle_choice) attention.finish(t.x_MD, middle, what);
    mlp.compute(middle, what);
    if constexpr (Sublayer<R, order, MlpOf>::norm_comes_last) {
      if (again.projection) mlp.project(middle, t.y_MD);
      // The output is still there, but with the whole block its norm's statistics are not.
      if (again == Recompute::block) mlp.finish(middle, t.y_MD, what);
    }
  }

  static constexpr typename Block::Temporary placed(const TensorsOf<R>& t) {
    Layout layout{t.temporary_offset};
    return {layout, t.batch * t.tokens};
  }
};

/// The same of a parallel block.
template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct ComposedPass<R, BlockOrder::parallel, AttentionOf, MlpOf> {
  using Block = ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>;
  static constexpr typename Block::Params p{};
  const TensorsOf<R>& t;
  const typename Block::Saved& saved;
  typename Block::Temporary temporary = placed(t);
  PartTensors<AttentionOf<R>> attention{t, p.attention, saved.attention, temporary.parts.attention};
  PartTensors<MlpOf<R>> mlp{t, p.mlp, saved.mlp, temporary.parts.mlp};
  View in = t.activations[saved.in_MD];

  static constexpr typename Block::Temporary placed(const TensorsOf<R>& t) {
    Layout layout{t.temporary_offset};
    return {layout, t.batch * t.tokens};
  }
  void normalize(auto what) const {
    if (what.norm) model::normalize<R>(t, what, p.norm, saved.norm, t.x_MD, in);
  }
  void compute(auto what) const {
    normalize(what);
    compute(attention, what);
    compute(mlp, what);
  }
  template <class Part> void compute(const PartTensors<Part>& part, auto what) const {
    model::choose_scales(part, what);
    Part::compute(part, in, what);
  }
};

}  // namespace detail

template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, order, AttentionOf, MlpOf>::forward(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, order, AttentionOf, MlpOf> pass{t, saved};
  pass.attention.forward(t.x_MD, pass.middle);
  pass.mlp.forward(pass.middle, t.y_MD);
}

template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, order, AttentionOf, MlpOf>::recompute(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, order, AttentionOf, MlpOf> pass{t, saved};
  if (const Recompute again = R::checkpointing::recompute(t.block); again == Recompute::block)
    pass.recompute(model::AllOfBlock{});
  else if constexpr (recomputes_parts<R>)
    pass.recompute(again);
}

template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, order, AttentionOf, MlpOf>::backward(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, order, AttentionOf, MlpOf> pass{t, saved};
  pass.mlp.backward(pass.middle);
  pass.attention.backward(t.x_MD);
}

namespace detail {

/// What decoding places, and one part of a block that takes new tokens.
template <class R, class Block> struct DecodePass {
  const DecodeTensorsOf<R>& t;
  typename Block::DecodeTemporary temporary = placed(t);
  typename Block::DecodeCache cache = placed_cache(t);
  View x = t.x_BD, normed = t.activations[temporary.normed_BD], result = t.activations[temporary.result_BD];

  static constexpr typename Block::DecodeTemporary placed(const DecodeTensorsOf<R>& t) {
    Layout activations, statistics;
    return {activations, statistics, t.batch};
  }
  static constexpr typename Block::DecodeCache placed_cache(const DecodeTensorsOf<R>& t) {
    Layout layout;
    return {layout, t.cache_rows};
  }

  void normalize(const NormParams& p, View from, View to) const { model::normalize<R>(t, p, temporary.norm, from, to); }
  /// x takes what the sublayer adds.
  template <BlockOrder order, class Part>
  void extend(const auto& p, const typename Part::DecodeTemporary& of_part,
              const typename Part::DecodeCache& cache_of_part) const {
    const PartDecode<Part> part{t, p.part, of_part, cache_of_part};
    if constexpr (order == BlockOrder::post_norm) {
      Part::decode(part, x, x, result);
      return normalize(p.norm_after, result, x);
    }
    normalize(p.norm_before, x, normed);
    if constexpr (order == BlockOrder::pre_norm) return Part::decode(part, normed, x, x);
    if constexpr (order == BlockOrder::normed_residual) return Part::decode(part, normed, normed, x);
    Part::decode(part, normed, View{}, result);
    normalize(p.norm_after, result, normed);
    add(t.queue, normed, x);
  }
};

}  // namespace detail

template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, order, AttentionOf, MlpOf>::decode(const DecodeTensorsOf<R>& t) requires
    PartsDecode<R, AttentionOf<R>, MlpOf<R>> {
  static constexpr Params p;
  const detail::DecodePass<R, ComposedBlock> pass{t};
  pass.template extend<order, AttentionOf<R>>(p.attention, pass.temporary.attention, pass.cache.attention);
  pass.template extend<order, MlpOf<R>>(p.mlp, pass.temporary.mlp, pass.cache.mlp);
}

template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>::forward(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, BlockOrder::parallel, AttentionOf, MlpOf> pass{t, saved};
  const View result = t.activations[pass.temporary.dropped_MD];
  pass.normalize(model::AllOfBlock{});
  // A part's temporary place is the other's, too: each is done before the other begins.
  pass.compute(pass.attention, model::AllOfBlock{});
  detail::add_result<R>(pass.attention, t.x_MD, result, t.y_MD);
  pass.compute(pass.mlp, model::AllOfBlock{});
  detail::add_result<R>(pass.mlp, t.y_MD, result, t.y_MD);
}

template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>::recompute(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, BlockOrder::parallel, AttentionOf, MlpOf> pass{t, saved};
  if (const Recompute again = R::checkpointing::recompute(t.block); again == Recompute::block)
    pass.compute(model::AllOfBlock{});
  else if constexpr (recomputes_parts<R>)
    pass.compute(again);
}

/// What both parts read is needed until both have gone back.
template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>::backward(const TensorsOf<R>& t, const Saved& saved) {
  const detail::ComposedPass<R, BlockOrder::parallel, AttentionOf, MlpOf> pass{t, saved};
  const View din = t.activations[pass.temporary.din_MD];
  const Slice dropped = pass.temporary.dropped_MD;
  MlpOf<R>::backward(pass.mlp, pass.in, detail::gradient_of_result<R, MlpOf<R>>(t, dropped), din, false);
  AttentionOf<R>::backward(pass.attention, pass.in, detail::gradient_of_result<R, AttentionOf<R>>(t, dropped), din,
                           true);
  model::normalize_backward<R>(t, pass.p.norm, saved.norm, din, t.x_MD, t.dx_MD, true);
}

template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
void ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>::decode(const DecodeTensorsOf<R>& t) requires
    PartsDecode<R, AttentionOf<R>, MlpOf<R>> {
  static constexpr Params p;
  const detail::DecodePass<R, ComposedBlock> pass{t};
  pass.normalize(p.norm, pass.x, pass.normed);
  AttentionOf<R>::decode({t, p.attention, pass.temporary.attention, pass.cache.attention}, pass.normed, pass.x, pass.x);
  MlpOf<R>::decode({t, p.mlp, pass.temporary.mlp, pass.cache.mlp}, pass.normed, pass.x, pass.x);
}

}  // namespace monomorph
