#include <monomorph/runtime/collectives_check.hpp>

#include "runtime/distributed/peers.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/together.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <numeric>

namespace monomorph {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t elements = std::int64_t{1} << 20;  // of a part: 4 MiB
constexpr int repeats = 3;

View view_of(std::vector<float>& values, std::int64_t first, std::int64_t n) {
  return {reinterpret_cast<std::byte*>(values.data() + first), DType::fp32, {1, n}};
}

/// Small whole numbers: their sums are exact in every dtype.
float number(int rank, std::int64_t i) { return static_cast<float>(rank % 4 + i % 13); }

/// The best of a few times, in the rank that is slowest.
template <class Act> double seconds(Communicator& communicator, Act act) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t here = 1;
    words_of_ranks(communicator, {&here, 1});  // all begin together
    const auto begin = Clock::now();
    act();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto word = std::bit_cast<std::int64_t>(best);  // positive doubles are ordered as their bits are
  return std::bit_cast<double>(std::ranges::max(words_of_ranks(communicator, {&word, 1})));
}

void require(bool right, int rank, const std::string& name) {
  if (!right)
    throw Error(
        fmt::format("[RANK-13] the {} gives rank {} wrong numbers; see whether memory or network of its machine "
                    "fails",
                    name, rank));
}

class Check {
 public:
  Check(const World& world, int shards, DType wire)
      : world_(world), communicator_(world.communicator(shards, wire)), whole_(shards * elements) {}

  CollectiveMeasure gather() {
    const int shards = communicator_->shards(), rank = world_.rank();
    const std::string name = fmt::format("gather of parameters among {} ranks", shards);
    std::vector<float> own(elements);
    for (std::int64_t i = 0; i < elements; ++i) own[i] = number(rank, i);
    const double time = seconds(*communicator_, [&] {
      communicator_->gather(0, view_of(own, 0, elements), view_of(whole_, 0, std::ssize(whole_)));
      communicator_->wait(0);
    });
    bool right = true;
    for (int r = 0; r < shards; ++r)
      for (std::int64_t i = 0; i < elements; ++i)
        right = right && whole_[r * elements + i] == number(rank / shards * shards + r, i);
    require(right, rank, name);
    return {name, static_cast<double>((shards - 1) * elements * 4) / time};
  }

  CollectiveMeasure reduce() {
    const int shards = communicator_->shards(), rank = world_.rank(), size = world_.size();
    const std::string name = fmt::format("reduction of gradients among {} times {} ranks", size / shards, shards);
    std::vector<float> sums(elements);
    const auto before = communicator_->traffic();
    const double time = seconds(*communicator_, [&] {
      for (std::int64_t i = 0; i < std::ssize(whole_); ++i) whole_[i] = number(rank, i);
      communicator_->reduce(0, view_of(whole_, 0, std::ssize(whole_)),
                            shards > 1 ? view_of(sums, 0, elements) : view_of(whole_, 0, elements), {});
      communicator_->wait(0);
    });
    const std::vector<float>& result = shards > 1 ? sums : whole_;
    bool right = true;
    for (std::int64_t i = 0; i < elements; ++i) {
      float expected = 0;
      for (int r = 0; r < size; ++r) expected += number(r, rank % shards * elements + i);
      right = right && result[i] == expected;
    }
    require(right, rank, name);
    const auto after = communicator_->traffic();
    const std::int64_t sent = after.reductions.bytes + after.replica_reductions.bytes - before.reductions.bytes -
                              before.replica_reductions.bytes;
    return {name, static_cast<double>(sent) / repeats / time};
  }

  /// Speeds between all pairs, which meet as at a round table: each rank talks with one other at a time.
  std::vector<PairMeasure> pairs() {
    const int rank = world_.rank(), size = world_.size(), seats = size + size % 2;
    const auto peers = world_.peers("check/");
    std::vector<std::int64_t> own(size);
    for (int round = 0; round < seats - 1; ++round) {
      const int other = partner(rank, round, seats);
      if (other < size) own[other] = std::bit_cast<std::int64_t>(exchange(*peers, other));
    }
    const std::vector<std::int64_t> all = words_of_ranks(*communicator_, own);
    std::vector<PairMeasure> measures;
    for (int a = 0; a < size; ++a)
      for (int b = a + 1; b < size; ++b)
        measures.push_back(
            {a, b, std::min(std::bit_cast<double>(all[a * size + b]), std::bit_cast<double>(all[b * size + a]))});
    return measures;
  }

 private:
  /// The circle method: seat `seats - 1` stays, the others move on.
  static int partner(int rank, int round, int seats) {
    const int moving = seats - 1;
    if (rank == moving) return round * (seats / 2) % moving;
    const int other = ((round - rank) % moving + moving) % moving;
    return other == rank ? moving : other;
  }

  /// Bytes a second, each way.
  double exchange(distributed::Peers& peers, int other) {
    std::vector<float> sent(elements), received(elements);
    double best = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto begin = Clock::now();
      auto in = peers.receive(other, distributed::Channel::gather, view_of(received, 0, elements));
      auto out = peers.send(other, distributed::Channel::gather, view_of(sent, 0, elements));
      in.wait();
      out.wait();
      best = std::max(best, elements * 4 / std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
  }

  const World& world_;
  std::unique_ptr<Communicator> communicator_;
  std::vector<float> whole_;
};

}  // namespace

CollectivesCheck check_collectives(const World& world, int shards, DType wire) {
  Check check(world, shards, wire);
  CollectivesCheck result;
  if (shards > 1) result.collectives.push_back(check.gather());
  result.collectives.push_back(check.reduce());
  const std::vector<PairMeasure> pairs = check.pairs();
  result.slowest = *std::ranges::min_element(pairs, {}, &PairMeasure::bytes_per_second);
  result.fastest = *std::ranges::max_element(pairs, {}, &PairMeasure::bytes_per_second);
  return result;
}

}  // namespace monomorph
