#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::cuda {

/// Rows by a key that each has, those of a key in their order. A kernel that has blocks for each key adds up its rows
/// in that order. Keys with many rows come first, as their blocks take longest.
class RowLists {
 public:
  enum class Lists { of_keys_with_rows, of_all_keys };
  /// Rows whose key is not in [0, n_keys) are in no list.
  RowLists(std::span<const std::int32_t> keys, std::int64_t n_keys, Lists lists) : next_of_key_(n_keys) {
    std::vector<std::int32_t> rows_of_key(n_keys);
    for (const std::int32_t key : keys)
      if (key >= 0 && key < n_keys) ++rows_of_key[key];
    const std::int32_t least = lists == Lists::of_all_keys ? 0 : 1;
    for (const std::int32_t rows : rows_of_key) {
      size_ += rows >= least ? 1 : 0;
      n_rows_ += rows;
    }
    numbers_.resize(n_heading + n_rows_ + size_ + size_ + 1);
    numbers_[0] = static_cast<std::int32_t>(size_);
    numbers_[1] = static_cast<std::int32_t>(keys_at());
    numbers_[2] = static_cast<std::int32_t>(starts_at());
    constexpr std::int32_t many = 128;
    for (std::int64_t key = 0; key < n_keys; ++key)
      if (rows_of_key[key] >= many) begin_list(key, rows_of_key[key]);
    for (std::int64_t key = 0; key < n_keys; ++key)
      if (rows_of_key[key] >= least && rows_of_key[key] < many) begin_list(key, rows_of_key[key]);
    numbers_[starts_at() + size_] = place_;
    for (std::int64_t row = 0; row < std::ssize(keys); ++row)
      if (keys[row] >= 0 && keys[row] < n_keys)
        numbers_[n_heading + next_of_key_[keys[row]]++] = static_cast<std::int32_t>(row);
  }

  std::int64_t size() const { return size_; }
  /// How many lists there are, and where what follows the rows begins; the rows of all lists; each list's key; where
  /// each list begins among the rows, and where the last ends.
  const std::vector<std::int32_t>& numbers() const { return numbers_; }
  static constexpr std::int64_t n_heading = 3;
  /// Numbers of lists of so many rows and keys, at most.
  static constexpr std::int64_t most_numbers(std::int64_t rows, std::int64_t lists) {
    return n_heading + rows + lists + lists + 1;
  }

 private:
  std::int64_t keys_at() const { return n_heading + n_rows_; }
  std::int64_t starts_at() const { return n_heading + n_rows_ + size_; }
  void begin_list(std::int64_t key, std::int32_t rows) {
    numbers_[keys_at() + begun_] = static_cast<std::int32_t>(key);
    numbers_[starts_at() + begun_] = place_;
    next_of_key_[key] = place_;
    place_ += rows;
    ++begun_;
  }

  std::int64_t size_ = 0, n_rows_ = 0, begun_ = 0;
  std::int32_t place_ = 0;
  std::vector<std::int32_t> numbers_, next_of_key_;
};

}  // namespace monomorph::cuda
