#pragma once
#include "runtime/nccl/nccl_group.hpp"

#include <monomorph/runtime/comm/rank_failure.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace monomorph::cuda {

/// A kernel that waits for another GPU can't throw, and the host that waits for it can't either. So a thread looks
/// after the collectives that have begun on the GPU: where one takes longer than the time limit, or NCCL reports an
/// error, it aborts all groups, by which what waits on the GPU ends and the host goes on, to `check`. A host that does
/// not come there for long is ended, with the same line.
class Watchdog {
 public:
  /// What a collective is for, to be said in the message.
  struct Purpose {
    std::string (*text)(int unit);  ///< runtime/distributed/failures.hpp
    int unit;
    const NcclGroup* group;
  };

  /// @param groups all of the rank's
  Watchdog(int device, std::vector<NcclGroup*> groups, std::chrono::milliseconds time_limit);
  Watchdog(const Watchdog&) = delete;
  ~Watchdog();

  /// Calls give(), which puts a collective on the stream.
  template <class Give> void watch(const Purpose& purpose, cudaStream_t stream, Give give) {
    begin(purpose, stream);
    try {
      give();
    } catch (const RankFailure& failure) {
      throw failure.during(doing(purpose));
    }
    end(stream);
  }
  /// @throws RankFailure [RANK-11], [RANK-12], [RANK-27]
  void check();

  // The collectives of Communicator, each of which is watched.
  void begin_recording();
  int end_recording();
  void runs_recording(int recording);

 private:
  /// How many collectives that run as a part of a recording a stream has come to, and how many of those are done. In
  /// pinned memory, where the GPU counts (launch/count_up.hpp).
  struct Progress {
    std::uint64_t begun, done;
  };
  struct Watched {
    Purpose purpose;
    cudaEvent_t begin, end;    ///< of one that is a part of a recording null
    std::uint64_t number = 0;  ///< of such a one, on its stream
    bool is_given = false;
    std::optional<std::chrono::steady_clock::time_point> seen_begun{};
  };
  struct OnStream {
    std::deque<Watched> watched;   ///< in their order
    Progress* progress = nullptr;  ///< null before something is recorded there
    std::uint64_t n_recorded = 0;  ///< that have been told to run
  };
  using Recorded = std::vector<std::pair<cudaStream_t, Purpose>>;

  void begin(const Purpose& purpose, cudaStream_t stream);
  void end(cudaStream_t stream);
  cudaEvent_t take_event();
  void look_after_all();
  std::optional<RankFailure> look();
  std::optional<RankFailure> look_at(OnStream& stream);
  static bool has_begun(const OnStream& stream, const Watched& watched);
  static bool is_done(const OnStream& stream, const Watched& watched);
  void take_back(const Watched& watched);
  Progress* progress_of(cudaStream_t stream);
  static std::string doing(const Purpose& purpose);
  static std::string among(const NcclGroup& group);
  void fail(std::unique_lock<std::mutex> lock);
  std::vector<std::thread> begin_aborts();

  int device_;
  std::vector<NcclGroup*> groups_;
  std::chrono::milliseconds time_limit_;
  std::mutex mutex_;
  std::condition_variable told_or_stops_;
  bool stops_ = false, is_told_ = false;
  std::map<cudaStream_t, OnStream> streams_;
  std::vector<cudaEvent_t> events_;  ///< that nobody uses
  bool is_recorded_ = false;
  std::vector<Recorded> recordings_;
  Progress* counts_ = nullptr;  ///< of all streams
  std::size_t n_counts_ = 0;    ///< that a stream has
  std::optional<RankFailure> failure_;
  std::thread thread_;
};

}  // namespace monomorph::cuda
