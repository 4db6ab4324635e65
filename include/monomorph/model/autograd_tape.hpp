#pragma once
#include <monomorph/core/owned.hpp>
#include <monomorph/spec/tensor_info.hpp>
#include <vector>

namespace at {
class Tensor;
}

namespace monomorph {

struct BlockTensors;
class AutogradInput;

/// What autograd blocks keep between forward and backward: one graph per block, built by forward or by recomputation
/// and freed by backward. The only place where LibTorch's autograd is used.
class AutogradTape {
 public:
  using Compute = at::Tensor (*)(const AutogradInput&);
  /// One block as the tape sees it.
  struct Block {
    const ParameterLayout& layout;
    Compute compute;
    std::string_view name;
  };

  AutogradTape();
  ~AutogradTape();
  AutogradTape(AutogradTape&&) noexcept;

  /// y = compute(x).   @param keep the graph is kept for backward
  void forward(const BlockTensors& t, const Block& block, bool keep);
  /// Builds the graph without touching y.
  void recompute(const BlockTensors& t, const Block& block);
  /// dx from dy in place; adds (or, for the first micro-batch, writes) parameter gradients; frees the graph.
  void backward(const BlockTensors& t, const Block& block);

 private:
  struct Graph;
  Graph& graph(int block);
  at::Tensor run(const BlockTensors& t, const Block& block, bool keep);
  std::vector<Owned<Graph>> graphs_;
};

}  // namespace monomorph
