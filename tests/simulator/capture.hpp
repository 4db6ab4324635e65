#pragma once
#include "simulator/streams.hpp"

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace monomorph::simulator {

/// What some streams were given, as branches that run again whenever the graph is launched.
struct Graph {
  enum class Kind { operation, mark, wait };
  struct Node {
    Kind kind;
    std::size_t branch;  ///< that of the stream in which the capture began is 0
    std::size_t mark{};  ///< of a mark, or of what is waited for
    std::string_view what{};
    std::function<void()> run{};
    std::function<bool()> ready{};
  };
  std::vector<Node> nodes;
  std::size_t n_branches = 1, n_marks = 0;

  /// Whether the other one differs in what operations are of, and not in which there are and what they wait for.
  bool has_form_of(const Graph& other) const;
};

/// Between the begin and the end of a capture. Streams that wait for what was captured take part in it from then on.
class Capture {
 public:
  enum class Mode { global, thread_local_, relaxed };
  Capture(CUstream_st* origin, Mode mode);

  /// Whether a call that could wait for the GPU, or change its memory, is allowed on the calling thread.
  bool forbids_here() const;
  bool is_of_this_thread() const { return owner_ == std::this_thread::get_id(); }
  bool has_ended() const { return has_ended_; }
  CUstream_st* origin() const { return branches_.front(); }
  const std::vector<CUstream_st*>& streams() const { return branches_; }
  /// What was refused can't be replayed without.
  void invalidate() { is_valid_ = false; }

  void add(CUstream_st* stream, std::string_view what, std::function<void()> run, std::function<bool()> ready);
  /// @return the mark
  std::size_t record(const CUstream_st* stream);
  void wait(CUstream_st* stream, std::size_t mark);
  /// The stream takes part from now on.
  void join(CUstream_st* stream);
  /// How a capture ends.
  enum class End { good, invalidated, unjoined };
  End end(Graph& graph);

 private:
  /// By branch, how many of its operations have run where another one's have.
  using Known = std::vector<std::size_t>;
  Known& known(std::size_t branch);

  std::vector<CUstream_st*> branches_;
  Mode mode_;
  std::thread::id owner_ = std::this_thread::get_id();
  Graph graph_;
  std::vector<Known> of_branches_, of_marks_;
  bool is_valid_ = true, has_ended_ = false;
};

}  // namespace monomorph::simulator

struct CUgraph_st {
  monomorph::simulator::Graph graph;
};
struct CUgraphExec_st {
  monomorph::simulator::Graph graph;
};
