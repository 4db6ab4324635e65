#include <monomorph/runtime/machine/background_queue.hpp>

extern "C" void omp_set_num_threads(int);

namespace monomorph {

BackgroundQueue::BackgroundQueue() : thread_([this] { run(); }) {}

BackgroundQueue::~BackgroundQueue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  submitted_.notify_one();
  thread_.join();
}

std::uint64_t BackgroundQueue::submit(std::function<void()> job) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push(std::move(job));
    number = ++n_submitted_;
  }
  submitted_.notify_one();
  return number;
}

void BackgroundQueue::wait(std::uint64_t number) {
  if (n_done_.load(std::memory_order_acquire) >= number) return;
  settle(number);
  if (n_done_ < number) std::rethrow_exception(failure_);
}

void BackgroundQueue::settle(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return failure_ != nullptr || n_done_ >= number; });
}

void BackgroundQueue::run() {
  omp_set_num_threads(1);  // a team of its own would take the cores from the threads that compute
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [&] { return ends_ || (!jobs_.empty() && failure_ == nullptr); });
    if (ends_) return;
    const std::function<void()> job = jobs_.take();
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    if (failure_ == nullptr) n_done_.fetch_add(1, std::memory_order_release);
    done_.notify_all();
  }
}

}  // namespace monomorph
