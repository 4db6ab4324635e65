#pragma once
#include <monomorph/runtime/comm/world.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace monomorph::train {

/// Lines that ranks make of numbered texts, each rank those of every size()-th text, and that rank 0 shows in their
/// order while they come: in a thread, as its own texts go on meanwhile. What waits for a line before it is kept on
/// rank 0, or where the ranks meet.
class OrderedLines {
 public:
  explicit OrderedLines(const World& world);
  OrderedLines(const OrderedLines&) = delete;
  ~OrderedLines();

  bool is_mine(std::int64_t text) const { return text % world_.size() == world_.rank(); }
  /// There are at least so many texts.   @throws what showing a line has thrown
  void expect(std::int64_t n_texts);
  /// The line of a text that is this rank's.
  void add(std::int64_t text, std::string line);
  /// There are no more texts than were expected. Rank 0 returns when it has shown the last line.
  /// @throws what showing a line has thrown; Error [RANK-05] a rank's line does not come, [RANK-14]
  void finish();

 private:
  void show_all();
  bool wait_until_expected(std::int64_t text);
  std::string line_of(std::int64_t text);
  std::string own_line(std::int64_t text);

  const World& world_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, std::string> own_;  ///< of rank 0
  std::int64_t n_expected_ = 0;
  bool finished_ = false, abandoned_ = false;
  std::exception_ptr failure_;
  std::thread showing_;  ///< of rank 0
};

}  // namespace monomorph::train
