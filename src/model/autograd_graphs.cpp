#include "model/autograd_graph.hpp"

namespace monomorph {

AutogradTape::AutogradTape() = default;
AutogradTape::~AutogradTape() = default;
AutogradTape::AutogradTape(AutogradTape&&) noexcept = default;

AutogradTape::Graph& AutogradTape::graph(int block) {
  if (static_cast<std::size_t>(block) >= graphs_.size()) graphs_.resize(block + 1);
  auto& graph = graphs_[block];
  if (!graph) graph = make_owned<Graph>();
  return *graph;
}

}  // namespace monomorph
