#include <monomorph/core/error.hpp>
#include <monomorph/data/loading/mixture.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monomorph::data {
namespace {

__extension__ using Wide = unsigned __int128;

/// Weights become whole numbers of about this sum, so that every machine computes the same.
constexpr double weight_sum = 0x1p52;

/// The whole part of a b / c.
std::int64_t divide(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<std::int64_t>(Wide{a} * b / c);
}

}  // namespace

// After n samples a set of weight w has had a share n w / sum. That its count is this, rounded down or up, gives each
// of its samples a window: its j-th must be one of the run's samples [floor(j sum / w), ceil((j + 1) sum / w)). Taking,
// among the sets whose window has begun, the one whose window ends first (of several the first set) keeps all windows
// if any order does, and one does (R. Tijdeman, The chairman assignment problem, 1980).

Mixture::Mixture(std::span<const double> weights) {
  if (weights.empty() || weights.size() > most_sets)
    throw UsageError("DATA-64", fmt::format("a mixture must have 1 to {} sets, not {}; merge some of them", most_sets,
                                            weights.size()));
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (const double weight : weights) {
    const double share = weight / sum;
    if (!(weight > 0 && share >= least_share && share <= 1))
      throw UsageError("DATA-64", fmt::format("every set of a mixture must have at least {} of the samples, and a "
                                              "weight of {} among weights of {} in all has {}; change the weights",
                                              least_share, weight, sum, share));
    weights_.push_back(static_cast<std::uint64_t>(std::round(share * weight_sum)));
    sum_ += weights_.back();
  }
}

std::vector<std::int64_t> Mixture::counts(std::int64_t n) const {
  const Cursor cursor(*this, n);
  std::vector<std::int64_t> counts;
  for (std::size_t set = 0; set < n_sets(); ++set) counts.push_back(cursor.count(set));
  return counts;
}

double Mixture::share(std::size_t set) const { return static_cast<double>(weights_[set]) / static_cast<double>(sum_); }

Mixture::Cursor::Cursor(const Mixture& mixture, std::int64_t n) : mixture_(mixture), position_(n) {
  for (std::size_t set = 0; set < mixture_.n_sets(); ++set)
    set_count(set, divide(static_cast<std::uint64_t>(n), mixture_.weights_[set], mixture_.sum_));
  if (mixture_.n_sets() > 1) take_begun(n);
}

void Mixture::Cursor::set_count(std::size_t set, std::int64_t count) {
  const std::uint64_t weight = mixture_.weights_[set], sum = mixture_.sum_;
  const auto next = static_cast<std::uint64_t>(count);
  sets_[set] = {count, divide(next, sum, weight),
                static_cast<std::int64_t>((Wide{next + 1} * sum + weight - 1) / weight)};
}

/// Of the samples whose window holds the boundary between n - 1 and n, finds those that were taken before it.
///
/// Think of the samples as jobs that arrive when their window begins, one being done at a time. Of those whose window
/// ends before some time, the number done by n is the least, over all t up to n, of (those arrived before t) + n - t:
/// t is where last none was waiting. For t before the first of the windows at hand this is never less than n, so it is
/// enough to look back to there. Arrived before t are all samples but the windows at hand that end later: the sum of
/// all shares rounded up, less the number of those windows that have begun.
void Mixture::Cursor::take_begun(std::int64_t n) {
  const std::size_t n_sets = mixture_.n_sets();
  std::array<std::uint16_t, most_sets> order;  // the sets with a window at hand, by its end
  std::array<std::uint64_t, most_sets> remainders;
  std::size_t n_open = 0;
  std::int64_t earliest = n, waiting = -n;  // waiting: the sum of all shares rounded up, less t
  for (std::size_t set = 0; set < n_sets; ++set) {
    remainders[set] =
        static_cast<std::uint64_t>(Wide{static_cast<std::uint64_t>(n)} * mixture_.weights_[set] % mixture_.sum_);
    waiting += sets_[set].count + (remainders[set] > 0 ? 1 : 0);
    if (remainders[set] == 0) continue;
    order[n_open++] = static_cast<std::uint16_t>(set);
    earliest = std::min(earliest, sets_[set].first);
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_open), [&](std::size_t a, std::size_t b) {
    return sets_[a].end != sets_[b].end ? sets_[a].end < sets_[b].end : a < b;
  });
  std::array<std::int64_t, most_sets + 1> lacking{};  // by the number of windows counted, from the first: done less n
  for (std::int64_t t = n; t > earliest; --t) {
    std::int64_t later = 0;
    for (std::size_t i = n_open + 1; i-- > 0;) {
      lacking[i] = std::min(lacking[i], waiting - later);
      if (i > 0 && sets_[order[i - 1]].first < t) ++later;
    }
    ++waiting;  // for t - 1
    for (std::size_t set = 0; set < n_sets; ++set) {
      const std::uint64_t weight = mixture_.weights_[set];
      if (remainders[set] > 0 && remainders[set] <= weight) --waiting;  // at t - 1 it rounds up to one less
      remainders[set] = remainders[set] >= weight ? remainders[set] - weight : remainders[set] + mixture_.sum_ - weight;
    }
  }
  for (std::size_t i = 0; i < n_open; ++i)
    if (lacking[i + 1] > lacking[i]) set_count(order[i], sets_[order[i]].count + 1);
}

Mixture::Place Mixture::Cursor::next() {
  std::size_t best = 0;
  std::int64_t end = INT64_MAX;
  for (std::size_t set = 0; set < mixture_.n_sets(); ++set) {
    if (sets_[set].first > position_ || sets_[set].end >= end) continue;
    best = set;
    end = sets_[set].end;
  }
  ++position_;
  const Place place{best, sets_[best].count};
  set_count(best, place.index + 1);
  return place;
}

}  // namespace monomorph::data
