#include <monomorph/data/loading/batch_prefetcher.hpp>

#include <monomorph/core/truncation_guard.hpp>

#include <chrono>
#include <utility>

namespace monomorph::data {

BatchPrefetcher::BatchPrefetcher(const Loader& loader, std::int64_t first_sample, std::int64_t count,
                                 std::int64_t stride, std::int64_t in_use)
    : loader_(loader),
      count_(count),
      stride_(stride),
      position_(first_sample),
      buffers_(static_cast<std::size_t>(in_use + 1)) {
  const auto size = static_cast<std::size_t>(count * loader.sequence_length());
  for (Buffer& buffer : buffers_) {
    buffer.inputs_BT.resize(size);
    buffer.targets_BT.resize(size);
    if (loader.has_document_starts()) buffer.document_starts_BT.resize(size);
    buffer.reference_BK.resize(static_cast<std::size_t>(count * loader.scores_per_sample()));
  }
  thread_ = std::thread([this] { read_requests(); });
  request(position_);
}

BatchPrefetcher::~BatchPrefetcher() {
  {
    std::unique_lock lock(mutex_);
    wait_until_done(lock);
    state_ = State::stopping;
  }
  changed_.notify_all();
  thread_.join();
}

BatchPrefetcher::Batch BatchPrefetcher::next() {
  const auto begin = std::chrono::steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    wait_until_done(lock);
    if (failure_) std::rethrow_exception(failure_);
  }
  throw_if_truncated();
  last_wait_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  front_ = behind_front();
  const Buffer& buffer = buffers_[front_];
  const std::int64_t first_sample = std::exchange(position_, position_ + stride_);
  request(position_);
  return {first_sample, buffer.inputs_BT, buffer.targets_BT, buffer.document_starts_BT, buffer.reference_BK};
}

void BatchPrefetcher::seek(std::int64_t first_sample) {
  {
    std::unique_lock lock(mutex_);
    wait_until_done(lock);
    failure_ = nullptr;
  }
  position_ = first_sample;
  request(position_);
}

void BatchPrefetcher::request(std::int64_t first_sample) {
  {
    const std::lock_guard lock(mutex_);
    requested_ = first_sample;
    state_ = State::requested;
  }
  changed_.notify_all();
}

void BatchPrefetcher::wait_until_done(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return state_ != State::requested; });
}

void BatchPrefetcher::read_requests() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return state_ == State::requested || state_ == State::stopping; });
    if (state_ == State::stopping) return;
    const std::int64_t first_sample = requested_;
    Buffer& back = buffers_[behind_front()];  // next() moves front_ only while nothing is requested
    lock.unlock();
    std::exception_ptr failure;
    try {
      loader_.read(first_sample, count_,
                   {back.inputs_BT.data(), back.targets_BT.data(),
                    back.document_starts_BT.empty() ? nullptr : back.document_starts_BT.data(),
                    back.reference_BK.empty() ? nullptr : back.reference_BK.data()});
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    state_ = State::done;
    changed_.notify_all();
  }
}

}  // namespace monomorph::data
