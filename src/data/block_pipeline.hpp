#pragma once
#include "data/line_block.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace monomorph::data {

/// Has threads work on the blocks of a file and hands the results on in the order of the file. Every thread takes its
/// turn at reading, working and handing on, so that n threads keep n cores busy; one thread is the caller itself.
/// What is read and not yet handed on is bounded in number and in bytes.
template <class Result> class BlockPipeline {
 public:
  using Work = std::function<void(const LineBlock&, Result&)>;     ///< one for each thread
  using Consume = std::function<void(const LineBlock&, Result&)>;  ///< by one thread at a time

  BlockPipeline(LineBlockReader& reader, std::vector<Work> workers, Consume consume)
      : reader_(reader), workers_(std::move(workers)), consume_(std::move(consume)), slots_(2 * workers_.size()) {}

  /// Returns when all is handed on. Throws what reading, working or handing on threw: of several errors, the one that
  /// is first in the file.
  void run() {
    {
      std::vector<std::jthread> threads;
      try {
        for (std::size_t i = 1; i < workers_.size(); ++i)
          threads.emplace_back([this, i] { work_on_blocks(workers_[i]); });
        work_on_blocks(workers_[0]);
      } catch (...) {  // a thread could not be started
        const std::lock_guard lock(mutex_);
        fail(std::current_exception());
      }
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Slot {
    LineBlock block;
    Result result;
    std::exception_ptr failure;
    bool done = false;
  };
  // Two of the longest lines may be under way at once, but no third.
  static constexpr std::size_t most_bytes = std::size_t{24} << 20;

  Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  bool may_read() const {
    const std::size_t n_under_way = n_read_ - n_consumed_;
    return !reading_ && n_under_way < slots_.size() && (n_under_way == 0 || bytes_under_way_ < most_bytes);
  }

  void work_on_blocks(const Work& work) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return at_end_ || may_read(); });
      if (at_end_) return;
      Slot& mine = slot(n_read_);
      if (!read(mine, lock)) return;
      lock.unlock();
      if (!mine.failure) mine.failure = failure_of([&] { work(mine.block, mine.result); });
      lock.lock();
      mine.done = true;
      if (mine.failure) at_end_ = true;  // what follows is not needed, what is under way may fail earlier
      hand_on(lock);
    }
  }

  /// Reads the next block; false if there is none.
  bool read(Slot& to, std::unique_lock<std::mutex>& lock) {
    reading_ = true;
    lock.unlock();
    bool has_block = false;
    to.failure = failure_of([&] { has_block = reader_.next(to.block); });
    lock.lock();
    reading_ = false;
    if (has_block || to.failure) {
      ++n_read_;
      bytes_under_way_ += to.block.size;
    }
    if (!has_block) at_end_ = true;
    changed_.notify_all();
    return has_block || to.failure;
  }

  /// Hands on what is complete, unless another thread is at it: that one then meets this block, too.
  void hand_on(std::unique_lock<std::mutex>& lock) {
    if (handing_on_) return;
    handing_on_ = true;
    while (!failure_ && n_consumed_ < n_read_ && slot(n_consumed_).done) {
      Slot& next = slot(n_consumed_);
      const std::size_t n_bytes = next.block.size;
      lock.unlock();
      std::exception_ptr failure = next.failure;
      if (!failure) failure = failure_of([&] { consume_(next.block, next.result); });
      lock.lock();
      next.done = false;
      bytes_under_way_ -= n_bytes;
      ++n_consumed_;
      if (failure) fail(failure);
      changed_.notify_all();
    }
    handing_on_ = false;
  }

  void fail(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    at_end_ = true;
    changed_.notify_all();
  }

  template <class Action> static std::exception_ptr failure_of(Action action) {
    try {
      action();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  LineBlockReader& reader_;
  std::vector<Work> workers_;
  Consume consume_;
  std::vector<Slot> slots_;  ///< block n is in slot n modulo their number

  std::mutex mutex_;
  std::condition_variable changed_;  // guarded by mutex_, as is all below
  std::size_t n_read_ = 0, n_consumed_ = 0, bytes_under_way_ = 0;
  bool reading_ = false, handing_on_ = false, at_end_ = false;
  std::exception_ptr failure_;
};

}  // namespace monomorph::data
