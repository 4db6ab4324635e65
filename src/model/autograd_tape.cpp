#include <monomorph/model/autograd_block.hpp>

#include "model/autograd_graph.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

namespace monomorph {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return at::kDouble;
    case DType::bf16:
      return at::kBFloat16;
    case DType::fp16:
      return at::kHalf;
    case DType::fp32:
      return at::kFloat;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      break;  // they mean nothing without a scale, which no tensor of a block with autograd has
  }
  __builtin_trap();
}

at::Tensor tensor_of(View view, at::IntArrayRef shape) {
  return at::from_blob(view.data, shape, at::TensorOptions().dtype(scalar_type(view.dtype)));
}
at::Tensor parameter_of(const UnitBuffer& unit, const TensorInfo& info) {
  const View view = unit[info.slice];
  if (view.shape.rows == 1) return tensor_of(view, {view.shape.cols});
  return tensor_of(view, {view.shape.rows, view.shape.cols});
}
at::Tensor stream(const BlockTensors& t, View view_MD) {
  return tensor_of(view_MD, {t.batch, t.tokens, view_MD.shape.cols});
}

View view_of(const at::Tensor& contiguous, DType dtype) {
  const std::int64_t cols = contiguous.size(-1);
  return {static_cast<std::byte*>(contiguous.data_ptr()), dtype, {contiguous.numel() / cols, cols}};
}

/// x and the parameters are the leaves of the graph, and y is its result.
struct Tensors {
  at::Tensor x_BTD, y_BTD;
  std::vector<at::Tensor> parameters;
};

}  // namespace

at::Tensor AutogradTape::run(const BlockTensors& t, const Block& block, bool keep) {
  const c10::AutoGradMode mode(keep);
  Tensors graph{stream(t, t.x_MD), {}, {}};
  graph.x_BTD.set_requires_grad(keep);
  for (const TensorInfo& info : block.layout) {
    graph.parameters.push_back(parameter_of(t.params, info));
    graph.parameters.back().set_requires_grad(keep && t.gradients[info.slice].present());
  }
  graph.y_BTD = block.compute(AutogradInput(t, block.layout, graph.x_BTD, graph.parameters));
  if (graph.y_BTD.sizes() != graph.x_BTD.sizes() || graph.y_BTD.scalar_type() != graph.x_BTD.scalar_type())
    throw Error("BLOCK-02",
                fmt::format("compute() of block {} must return the shape and dtype of x_BTD; change what it "
                            "returns",
                            block.name));
  at::Tensor y = graph.y_BTD.detach();
  if (keep) this->graph(t.block).tensors = std::make_shared<Tensors>(std::move(graph));
  return y;
}

void AutogradTape::forward(const BlockTensors& t, const Block& block, bool keep) {
  const at::Tensor y = run(t, block, keep);
  stream(t, t.y_MD).copy_(y);
}

void AutogradTape::recompute(const BlockTensors& t, const Block& block) { run(t, block, true); }

void AutogradTape::backward(const BlockTensors& t, const Block& block) {
  const Owned<Graph> kept = std::exchange(graphs_[t.block], nullptr);
  Tensors& graph = *static_cast<Tensors*>(kept->tensors.get());
  // With equal dtypes autograd adds into the flat gradient itself; else it allocates, and the sum follows below.
  const bool adds_in_place = t.gradients.dtype() == t.params.dtype();
  for (int i = 0; t.gradients.present() && i < block.layout.size(); ++i) {
    const View gradient = t.gradients[block.layout[i].slice];
    if (!gradient.present()) continue;
    if (!t.accumulate) cpu::zero(cpu::Queue{}, gradient);
    if (adds_in_place) graph.parameters[i].mutable_grad() = parameter_of(t.gradients, block.layout[i]);
  }
  graph.y_BTD.backward(stream(t, t.dx_MD).clone());
  stream(t, t.dx_MD).copy_(graph.x_BTD.grad());
  if (adds_in_place) return;
  for (int i = 0; i < block.layout.size(); ++i)
    if (const at::Tensor& gradient = graph.parameters[i].grad(); gradient.defined())
      parameter_of(t.gradients, block.layout[i]).add_(gradient);
}

const at::Tensor& AutogradInput::parameter(std::string_view name) const {
  for (int i = 0; i < layout_.size(); ++i)
    if (layout_[i].name == name) return parameters_[i];
  throw Error("BLOCK-01",
              fmt::format("compute() of block {} asks for a parameter {}, which Params does not have; change "
                          "one of the names",
                          t_.block, name));
}

at::Tensor AutogradInput::document_starts_BT() const {
  if (t_.document_starts == nullptr) return {};
  return at::from_blob(const_cast<std::int32_t*>(t_.document_starts), {t_.batch, t_.tokens}, at::kInt);
}

at::Tensor AutogradInput::dropout(const at::Tensor& x, double rate, int site) const {
  if (!t_.training || rate == 0) return x;
  const at::Tensor mask = at::ones_like(x.detach().contiguous());
  const View view = view_of(mask, t_.x_MD.dtype);
  cpu::dropout(cpu::Queue{}, view, view, dropout_key(t_, static_cast<DropoutSite>(site), rate));
  return x.mul(mask);
}

}  // namespace monomorph
