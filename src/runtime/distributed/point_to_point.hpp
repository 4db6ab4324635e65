#pragma once
#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/memory/view.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace monomorph::distributed {

/// What a message belongs to. Messages between two ranks on one channel arrive in the order of sending, so two threads
/// of a rank never share a channel.
enum class Channel : int { all_gather, reduce_scatter, all_reduce, batch };
inline constexpr int n_channels = 4;

/// Messages between the ranks of a run, point to point, over c10d's Gloo: straight from and into the views, which
/// must stay as they are until the message was waited for. Our collectives are made of these and not of Gloo's, which
/// copy what they gather, add in an order that depends on the number of ranks, and can't say who did not come.
class PointToPoint {
 public:
  /// Connects every rank with every other; returns when all have come.
  /// @param rendezvous_host host where the ranks meet; an address of the loopback interface if all are on this machine
  /// @throws Error [RANK-10] if they have not within the time limit, which holds for every message, too
  PointToPoint(const Store& store, int rank, int size, const std::string& rendezvous_host,
               std::chrono::milliseconds time_limit);
  ~PointToPoint();

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// A message that is being sent or received.
  class Message {
   public:
    struct Work;
    explicit Message(std::unique_ptr<Work> work);
    Message(Message&&) noexcept;
    Message& operator=(Message&&) noexcept;
    ~Message();
    /// @throws RankFailure [RANK-11] if the other rank has gone, [RANK-12] if the time limit is over
    void wait();

   private:
    std::unique_ptr<Work> work_;
  };
  Message send(int to, Channel channel, View contiguous);
  Message receive(int from, Channel channel, View contiguous);
  /// Bytes sent so far. The caller must have waited for what was sent on the channel, or be the thread that sends
  /// there.
  std::int64_t sent_bytes(int to, Channel channel) const { return sent_bytes_[place(to, channel)]; }

 private:
  static std::size_t place(int to, Channel channel) {
    return static_cast<std::size_t>(to) * n_channels + static_cast<std::size_t>(channel);
  }

  std::unique_ptr<libtorch::Connections> connections_;
  int rank_, size_;
  std::vector<std::int64_t> sent_bytes_;  ///< by rank and channel, each of which one thread alone sends on
};

}  // namespace monomorph::distributed
