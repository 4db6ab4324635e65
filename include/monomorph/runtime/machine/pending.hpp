#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace monomorph {

/// First in, first out. What was taken makes room before more is allocated: no more is than has ever waited at a time,
/// and nothing while that is no more than `usual`.
template <class T> class Pending {
 public:
  Pending() { items_.reserve(usual); }
  bool empty() const { return n_taken_ == items_.size(); }
  void push(T item) {
    if (items_.size() == items_.capacity() && n_taken_ > 0) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(n_taken_));
      n_taken_ = 0;
    }
    items_.push_back(std::move(item));
  }
  T take() {
    T item = std::move(items_[n_taken_++]);
    if (empty()) items_.clear(), n_taken_ = 0;
    return item;
  }

 private:
  static constexpr std::size_t usual = 64;
  std::vector<T> items_;
  std::size_t n_taken_ = 0;
};

}  // namespace monomorph
