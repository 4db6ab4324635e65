#pragma once
#include <monomorph/data/text/number_set.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace monomorph::data {

/// The pairs of a word that can be merged, by rank and within a rank by place. A place has one pair at most. Each rank
/// has a list of its places, threaded through them, that is put in order when its turn comes.
///
/// Merging a word takes a number of steps in proportion to its length. Once a list's turn has come, all pairs of lower
/// ranks grow from the one that was merged last, which was the leftmost. So new places only come before the others, the
/// list stays in order until it is empty, and no place is sorted twice.
class PairQueue {
 public:
  explicit PairQueue(std::size_t n_ranks) : lists_(n_ranks), ranks_(n_ranks) {}

  /// Makes room for places [0, n_places). The queue must be empty.
  void resize(std::size_t n_places) { places_.resize(n_places); }
  /// Gives the memory of the places back.
  void give_back();

  bool empty() const { return ranks_.empty(); }

  /// @param rank below `n_ranks`  @param place has no pair yet
  void add(std::uint32_t rank, std::size_t place);
  /// @param rank of the pair that the place has
  void remove(std::uint32_t rank, std::size_t place);

  struct Pair {
    std::uint32_t rank;
    std::size_t place;
  };
  /// Takes the leftmost pair of the lowest rank out. There must be one.
  Pair take();

 private:
  using Link = std::int32_t;
  static constexpr Link none = -1;

  /// The neighbours of a place in the list of its pair's rank. They mean nothing if the place has no pair.
  struct Place {
    Link previous, next;
  };
  /// The places of a rank. `last` is complemented (~) while the list may be out of order.
  struct List {
    Link first = none, last = none;
    bool is_in_order() const { return last >= 0; }
    Link last_place() const { return last >= 0 ? last : ~last; }
    void set_last(Link place) { last = is_in_order() ? place : ~place; }
  };

  Place& at(Link place) { return places_[static_cast<std::size_t>(place)]; }
  void put_in_order(List& list);

  std::vector<Place> places_;
  std::vector<List> lists_;  ///< by rank
  NumberSet ranks_;          ///< those whose lists are not empty
  std::vector<Link> sorted_, sorting_;
};

}  // namespace monomorph::data
