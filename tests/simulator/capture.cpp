#include "simulator/capture.hpp"

#include <algorithm>
#include <utility>

namespace monomorph::simulator {

bool Graph::has_form_of(const Graph& other) const {
  return std::ranges::equal(nodes, other.nodes, [](const Node& a, const Node& b) {
    return a.kind == b.kind && a.branch == b.branch && a.mark == b.mark && a.what == b.what;
  });
}

Capture::Capture(CUstream_st* origin, Mode mode) : branches_{origin}, mode_(mode), of_branches_(1, Known(1)) {}

bool Capture::forbids_here() const {
  return mode_ == Mode::global || (mode_ == Mode::thread_local_ && is_of_this_thread());
}

Capture::Known& Capture::known(std::size_t branch) {
  of_branches_.resize(branches_.size());
  of_branches_[branch].resize(branches_.size());
  return of_branches_[branch];
}

void Capture::add(CUstream_st* stream, std::string_view what, std::function<void()> run, std::function<bool()> ready) {
  ++known(stream->branch)[stream->branch];
  graph_.nodes.push_back({.kind = Graph::Kind::operation,
                          .branch = stream->branch,
                          .what = what,
                          .run = std::move(run),
                          .ready = std::move(ready)});
}

std::size_t Capture::record(const CUstream_st* stream) {
  of_marks_.push_back(known(stream->branch));
  graph_.nodes.push_back({.kind = Graph::Kind::mark, .branch = stream->branch, .mark = graph_.n_marks});
  return graph_.n_marks++;
}

void Capture::wait(CUstream_st* stream, std::size_t mark) {
  Known& own = known(stream->branch);
  for (std::size_t i = 0; i < of_marks_[mark].size(); ++i) own[i] = std::max(own[i], of_marks_[mark][i]);
  graph_.nodes.push_back({.kind = Graph::Kind::wait, .branch = stream->branch, .mark = mark});
}

void Capture::join(CUstream_st* stream) {
  stream->branch = branches_.size();
  branches_.push_back(stream);
}

/// All that other branches were given must have run where the first one ends.
Capture::End Capture::end(Graph& graph) {
  has_ended_ = true;
  for (std::size_t branch = 1; branch < branches_.size(); ++branch)
    if (known(branch)[branch] > known(0)[branch] && is_valid_) return End::unjoined;
  if (!is_valid_) return End::invalidated;
  graph_.n_branches = branches_.size();
  graph = std::move(graph_);
  return End::good;
}

}  // namespace monomorph::simulator
