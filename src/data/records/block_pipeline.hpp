#pragma once
#include "data/records/line_block.hpp"

#include <monomorph/data/work/interruption.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace monomorph::data {

/// Lets threads work on the blocks of a file and hands the results on in the order of the file. Every thread takes its
/// turn at reading, working and handing on, so that n threads keep n cores busy; one thread is the caller itself.
/// What is read and not yet handed on is bounded in number and in memory, so that many small blocks are worked on at
/// once but few large ones. Work that would make much of a block stops for_each_line before its end: what it has made
/// is handed on, and then it goes on with the rest.
template <class Result> class BlockPipeline {
 public:
  using Work = std::function<void(LineBlock&, Result&)>;           ///< one for each thread
  using Consume = std::function<void(const LineBlock&, Result&)>;  ///< by one thread at a time

  /// @param memory_per_byte what a byte of a block may take until it is handed on: itself, its result, what work needs
  BlockPipeline(LineBlockReader& reader, std::vector<Work> workers, Consume consume, std::size_t memory_per_byte = 5)
      : reader_(reader),
        workers_(std::move(workers)),
        consume_(std::move(consume)),
        memory_per_byte_(memory_per_byte),
        slots_(workers_.size() + std::min(workers_.size(), most_waiting)) {}

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
  static constexpr std::size_t most_memory = std::size_t{128} << 20;
  /// Blocks that are done before their turn, so that nobody waits for one that takes a little longer.
  static constexpr std::size_t most_waiting = 16;
  static constexpr std::size_t long_block_bytes = std::size_t{1} << 20;

  std::size_t memory_of(const LineBlock& block) const { return block.size * memory_per_byte_; }
  Slot& slot(std::size_t number) { return slots_[number % slots_.size()]; }

  bool may_read() const { return !reading_ && n_read_ - n_consumed_ < slots_.size(); }

  bool has_room_for(const LineBlock& block) const {
    return n_read_ == n_consumed_ || memory_under_way_ + memory_of(block) <= most_memory;
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
      // Later blocks are not needed any more. Earlier ones that are under way may still fail.
      if (mine.failure) at_end_ = true;
      hand_on(work, lock);
    }
  }

  /// Reads the next block and waits until there is room to work on it, as only then its length is known. False if there
  /// is none or it is not needed.
  bool read(Slot& to, std::unique_lock<std::mutex>& lock) {
    reading_ = true;
    lock.unlock();
    bool has_block = false;
    to.failure = failure_of([&] { has_block = reader_.next(to.block); });
    lock.lock();
    if (has_block) changed_.wait(lock, [&] { return at_end_ || has_room_for(to.block); });
    reading_ = false;
    const bool is_needed = !at_end_ && (has_block || to.failure);
    if (is_needed) {
      ++n_read_;
      memory_under_way_ += memory_of(to.block);
    }
    if (!has_block) at_end_ = true;
    changed_.notify_all();
    return is_needed;
  }

  /// Hands on what is complete, unless another thread is doing so: that thread then finds this block, too.
  /// @param work this thread's, for what is left of a block
  void hand_on(const Work& work, std::unique_lock<std::mutex>& lock) {
    if (handing_on_) return;
    handing_on_ = true;
    while (!failure_ && n_consumed_ < n_read_ && slot(n_consumed_).done) {
      Slot& next = slot(n_consumed_);
      const std::size_t n_bytes = memory_of(next.block);
      lock.unlock();
      std::exception_ptr failure = next.failure;
      if (!failure) failure = failure_of([&] { hand_on(work, next); });
      if (next.block.size > long_block_bytes) {  // this is rare, so its memory is not kept for the next block
        next.block = {};
        next.result = {};
      }
      lock.lock();
      next.done = false;
      memory_under_way_ -= n_bytes;
      ++n_consumed_;
      if (failure) fail(failure);
      changed_.notify_all();
    }
    handing_on_ = false;
  }

  void hand_on(const Work& work, Slot& next) {
    while (true) {
      throw_if_interrupted();  // much may have been read before the signal
      consume_(next.block, next.result);
      if (!next.block.has_rest) return;
      work(next.block, next.result);
    }
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
  std::size_t memory_per_byte_;
  std::vector<Slot> slots_;  ///< block n is in slot n modulo their number

  std::mutex mutex_;
  std::condition_variable changed_;  // guarded by mutex_, as is all below
  std::size_t n_read_ = 0, n_consumed_ = 0, memory_under_way_ = 0;
  bool reading_ = false, handing_on_ = false, at_end_ = false;
  std::exception_ptr failure_;
};

}  // namespace monomorph::data
