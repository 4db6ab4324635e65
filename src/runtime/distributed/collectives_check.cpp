#include <monomorph/runtime/comm/collectives_check.hpp>

#include "runtime/distributed/point_to_point.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <limits>

namespace monomorph {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t elements = std::int64_t{1} << 20;  // of a part: 4 MiB
constexpr int repeats = 3;

View view_of(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), DType::fp32, {1, std::ssize(values)}};
}

/// Whole numbers whose sums over neighbouring ranks stay small, however many there are: exact in every dtype.
float number(int rank, std::int64_t i) {
  constexpr int of_rank[] = {0, 3, -1, -2};
  return static_cast<float>(of_rank[rank % 4] + (rank % 2 == 0 ? 1 : -1) * (i % 13));
}

/// The shortest of a few runs on each rank, in every rank.
template <class Act> std::vector<double> seconds_of_ranks(Communicator& communicator, Act act) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t here = 1;
    all_gather_words(communicator, {&here, 1});  // all begin together
    const auto begin = Clock::now();
    act();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto word = std::bit_cast<std::int64_t>(best);
  std::vector<double> seconds;
  for (const std::int64_t bits : all_gather_words(communicator, {&word, 1}))
    seconds.push_back(std::bit_cast<double>(bits));
  return seconds;
}

class Check {
 public:
  Check(const World& world, Communicator& communicator)
      : world_(world),
        communicator_(communicator),
        shard_(elements),
        unsharded_(static_cast<std::size_t>(shards_ * elements)) {}

  std::vector<CollectiveMeasure> collectives() {
    if (shards_ > 1) {
      all_gather();
      reduce_scatter("reduction of gradients", {.last = false}, true);
    }
    if (shards_ < size_)
      reduce_scatter(shards_ == 1 ? "reduction of gradients" : "the same, then with replicas", {}, false);
    return std::move(measures_);
  }

  /// Speeds between all pairs of ranks. In each round, as in a round-robin tournament, a rank exchanges messages with
  /// one other.
  std::vector<PairMeasure> pairs() {
    const int seats = size_ + size_ % 2;
    const auto point_to_point = world_.point_to_point("check/");
    std::vector<std::int64_t> local(size_);
    for (int round = 0; round < seats - 1; ++round) {
      const int other = partner(rank_, round, seats);
      if (other < size_) local[other] = std::bit_cast<std::int64_t>(exchange(*point_to_point, other));
    }
    const std::vector<std::int64_t> all = all_gather_words(communicator_, local);
    std::vector<PairMeasure> measures;
    for (int a = 0; a < size_; ++a)
      for (int b = a + 1; b < size_; ++b)
        measures.push_back(
            {a, b, std::min(std::bit_cast<double>(all[a * size_ + b]), std::bit_cast<double>(all[b * size_ + a]))});
    return measures;
  }

 private:
  void all_gather() {
    const std::vector<double> seconds = seconds_of_ranks(communicator_, [&] {
      for (std::int64_t i = 0; i < elements; ++i) shard_[i] = number(rank_, i);
      communicator_.all_gather(0, view_of(shard_), view_of(unsharded_));
      communicator_.wait(0);
    });
    require("gather of parameters", unsharded_, [&](std::int64_t i) {
      return number(rank_ / shards_ * shards_ + static_cast<int>(i / elements), i % elements);
    });
    note("gather of parameters", true, (shards_ - 1) * elements * 4, seconds);
  }

  /// @param within_group among the ranks of one copy, or else among all
  void reduce_scatter(const char* what, Reduction reduction, bool within_group) {
    const std::int64_t before = sent();
    std::vector<float>& sums = shards_ > 1 ? shard_ : unsharded_;
    const std::vector<double> seconds = seconds_of_ranks(communicator_, [&] {
      for (std::int64_t i = 0; i < std::ssize(unsharded_); ++i) unsharded_[i] = number(rank_, i);
      communicator_.reduce_scatter(0, view_of(unsharded_), view_of(sums), reduction);
      communicator_.wait(0);
    });
    const int first = within_group ? rank_ / shards_ * shards_ : 0, n = within_group ? shards_ : size_;
    require("reduction of gradients", sums, [&](std::int64_t i) {
      float sum = 0;
      for (int r = first; r < first + n; ++r) sum += number(r, rank_ % shards_ * elements + i);
      return sum;
    });
    note(what, within_group, (sent() - before) / repeats, seconds);
  }

  std::int64_t sent() const {
    const plan::Traffic traffic = communicator_.traffic();
    return traffic.reductions.bytes + traffic.replica_reductions.bytes;
  }

  template <class Expected> void require(const char* what, const std::vector<float>& result, Expected expected) {
    together(communicator_, fmt::format("check the {}", what), [&] {
      for (std::int64_t i = 0; i < std::ssize(result); ++i)
        if (result[i] != expected(i))
          throw Error("RANK-13", fmt::format("the {} gives rank {} wrong numbers; see whether memory or network of its "
                                             "machine fails",
                                             what, rank_));
    });
  }

  /// A measure for each group of ranks: those of one copy, which lie side by side, or those that hold the same part.
  void note(const char* what, bool of_copies, std::int64_t bytes, const std::vector<double>& seconds) {
    const int n = of_copies ? shards_ : size_ / shards_, stride = of_copies ? 1 : shards_;
    for (int group = 0; group < size_ / n; ++group) {
      CollectiveMeasure& measure = measures_.emplace_back(CollectiveMeasure{what, {}, 0});
      double slowest = 0;
      for (int i = 0; i < n; ++i) {
        measure.ranks.push_back((of_copies ? group * n : group) + i * stride);
        slowest = std::max(slowest, seconds[static_cast<std::size_t>(measure.ranks.back())]);
      }
      measure.bytes_per_second = static_cast<double>(bytes) / slowest;
    }
  }

  /// The circle method for tournaments: seat `seats - 1` stays, and the others move on by one each round.
  static int partner(int rank, int round, int seats) {
    const int moving = seats - 1;
    if (rank == moving) return round * (seats / 2) % moving;
    const int other = ((round - rank) % moving + moving) % moving;
    return other == rank ? moving : other;
  }

  /// Bytes per second in each direction.
  double exchange(distributed::PointToPoint& point_to_point, int other) {
    std::vector<float> sent(elements), received(elements);
    double best = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto begin = Clock::now();
      auto in = point_to_point.receive(other, distributed::Channel::all_gather, view_of(received));
      auto out = point_to_point.send(other, distributed::Channel::all_gather, view_of(sent));
      in.wait();
      out.wait();
      best = std::max(best, elements * 4 / std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
  }

  const World& world_;
  Communicator& communicator_;
  const int rank_ = communicator_.rank(), size_ = communicator_.size(), shards_ = communicator_.shards();
  std::vector<float> shard_, unsharded_;
  std::vector<CollectiveMeasure> measures_;
};

}  // namespace

CollectivesCheck check_collectives(const World& world, Communicator& communicator) {
  Check check(world, communicator);
  CollectivesCheck result{.collectives = check.collectives(), .slowest = {}, .fastest = {}};
  const std::vector<PairMeasure> pairs = check.pairs();
  result.slowest = *std::ranges::min_element(pairs, {}, &PairMeasure::bytes_per_second);
  result.fastest = *std::ranges::max_element(pairs, {}, &PairMeasure::bytes_per_second);
  return result;
}

}  // namespace monomorph
