#pragma once
#include <ATen/core/Tensor.h>

#include <monomorph/block/autograd_block.hpp>
#include <monomorph/core/type_name.hpp>
#include <monomorph/model/autograd_tape.hpp>
#include <monomorph/model/block_tensors.hpp>

#include <span>

/// The body of AutogradBlock, and what a user's `compute` is given. The one header of Monomorph that includes LibTorch.
namespace monomorph {

/// What `compute` may read. Tensors view the arena: do not write to them.
class AutogradInput {
 public:
  AutogradInput(const BlockTensors& t, const ParameterLayout& layout, const at::Tensor& x_BTD,
                std::span<const at::Tensor> parameters)
      : t_(t), layout_(layout), x_BTD_(x_BTD), parameters_(parameters) {}

  const at::Tensor& x_BTD() const { return x_BTD_; }
  /// A parameter by the name that Params gave it; a matrix is (out, in), a vector has one dimension.
  /// @throws [BLOCK-01] if there is none of that name
  const at::Tensor& parameter(std::string_view name) const;
  /// Dropout of a (B, T, features) tensor during training, by Monomorph's own counter-based generator: the same mask
  /// for any number of ranks and in recomputation. `site` tells several dropouts of a block apart.
  at::Tensor dropout(const at::Tensor& x, double rate, int site) const;
  /// Where in its row the document of each token begins, (B, T) of int32: with attention::WithinDocuments no token may
  /// look before it. Undefined with other attention.
  at::Tensor document_starts_BT() const;
  std::int64_t batch() const { return t_.batch; }
  std::int64_t tokens() const { return t_.tokens; }
  bool training() const { return t_.training; }

 private:
  const BlockTensors& t_;
  const ParameterLayout& layout_;
  const at::Tensor& x_BTD_;
  std::span<const at::Tensor> parameters_;
};

namespace detail {
template <class Derived> AutogradTape::Block autograd_block(const ParameterLayout& layout) {
  constexpr std::string_view name = type_name<Derived>();
  return {layout, &Derived::compute, name.substr(0, name.find('<'))};
}
}  // namespace detail

template <class Derived>
template <class Queue>
void AutogradBlock<Derived>::forward(const TensorsOn<Queue>& t, const Saved&) {
  const typename Derived::Params params{t.block};
  t.tape->forward(t, detail::autograd_block<Derived>(params), t.training && !t.recomputes);
}
template <class Derived>
template <class Queue>
void AutogradBlock<Derived>::recompute(const TensorsOn<Queue>& t, const Saved&) {
  const typename Derived::Params params{t.block};
  if (t.recomputes) t.tape->recompute(t, detail::autograd_block<Derived>(params));
}
template <class Derived>
template <class Queue>
void AutogradBlock<Derived>::backward(const TensorsOn<Queue>& t, const Saved&) {
  const typename Derived::Params params{t.block};
  t.tape->backward(t, detail::autograd_block<Derived>(params));
}

}  // namespace monomorph
