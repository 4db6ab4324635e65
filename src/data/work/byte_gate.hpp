#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace monomorph::data {

/// Lets threads in while what they work on is few bytes together: one large thing at a time, or several smaller ones.
class ByteGate {
 public:
  explicit ByteGate(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Being inside. Whoever is must wait for nobody else.
  class Stay {
   public:
    /// Waits until there is room; alone, anything has room.
    Stay(ByteGate& gate, std::size_t n_bytes) : gate_(gate), n_bytes_(std::min(n_bytes, gate.most_bytes_)) {
      std::unique_lock lock(gate_.mutex_);
      gate_.left_.wait(lock, [this] { return gate_.bytes_inside_ + n_bytes_ <= gate_.most_bytes_; });
      gate_.bytes_inside_ += n_bytes_;
    }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;
    ~Stay() {
      {
        const std::lock_guard lock(gate_.mutex_);
        gate_.bytes_inside_ -= n_bytes_;
      }
      gate_.left_.notify_all();
    }

   private:
    ByteGate& gate_;
    std::size_t n_bytes_;
  };

 private:
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::size_t bytes_inside_ = 0;
};

}  // namespace monomorph::data
