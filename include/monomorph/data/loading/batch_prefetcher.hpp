#pragma once
#include <monomorph/data/loading/loader.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace monomorph::data {

/// Reads the next batch on a thread of its own while the current one is used. Allocates nothing after its construction.
class BatchPrefetcher {
 public:
  /// Batches of `count` samples, the first beginning at `first_sample`, each `stride` after the one before: with
  /// several ranks a batch is a rank's part and the stride the whole. The loader must outlive it.
  /// @param in_use as many batches are good at a time
  BatchPrefetcher(const Loader& loader, std::int64_t first_sample, std::int64_t count, std::int64_t stride,
                  std::int64_t in_use = 1);
  BatchPrefetcher(const BatchPrefetcher&) = delete;
  BatchPrefetcher& operator=(const BatchPrefetcher&) = delete;
  ~BatchPrefetcher();

  /// The memory that one takes for batches of `count` samples, each of so many scores of a reference.
  static std::int64_t bytes(std::int64_t count, std::int64_t sequence_length, bool document_starts,
                            std::int64_t in_use = 1, std::int64_t scores_per_sample = 0) {
    const std::int64_t ids = (document_starts ? 3 : 2) * sequence_length * std::int64_t{sizeof(std::int32_t)};
    return (in_use + 1) * count * (ids + scores_per_sample * std::int64_t{sizeof(double)});
  }

  struct Batch {
    std::int64_t first_sample;
    std::span<const std::int32_t> inputs_BT, targets_BT;
    std::span<const std::int32_t> document_starts_BT;  ///< empty if the loader has none
    std::span<const double> reference_BK;              ///< likewise
  };
  /// The next batch, which is valid until as many further calls as batches are in use. Throws what reading it threw.
  Batch next();

  /// The first sample of the batch that next() will give: all there is to save and restore.
  std::int64_t position() const noexcept { return position_; }
  /// Continues with the batch that begins at another sample.
  void seek(std::int64_t first_sample);
  /// How long the last next() had to wait for the thread.
  double last_wait_seconds() const noexcept { return last_wait_seconds_; }

 private:
  struct Buffer {
    std::vector<std::int32_t> inputs_BT, targets_BT, document_starts_BT;
    std::vector<double> reference_BK;
  };
  enum class State { done, requested, stopping };

  void read_requests();
  void request(std::int64_t first_sample);
  void wait_until_done(std::unique_lock<std::mutex>& lock);
  std::size_t behind_front() const { return (front_ + 1) % buffers_.size(); }

  const Loader& loader_;
  std::int64_t count_, stride_, position_;
  double last_wait_seconds_ = 0;
  std::vector<Buffer> buffers_;  ///< those in use, and the one that the thread fills
  std::size_t front_ = 0;        ///< the latest that the user has

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::done;  // guarded by mutex_, as are the two below
  std::int64_t requested_ = 0;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace monomorph::data
