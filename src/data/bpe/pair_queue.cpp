#include <monomorph/data/bpe/pair_queue.hpp>

#include "data/work/free_memory.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace monomorph::data {
namespace {

/// Sorts numbers that are not negative, in time linear in their number: by digits, the lowest first.
/// @param other working memory
void sort_by_digits(std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& other) {
  constexpr unsigned digit_bits = 8;
  constexpr std::size_t base = std::size_t{1} << digit_bits;
  if (numbers.size() < base) return std::sort(numbers.begin(), numbers.end());
  const std::int32_t largest = *std::max_element(numbers.begin(), numbers.end());
  for (unsigned shift = 0; shift < 32 && largest >> shift > 0; shift += digit_bits) {
    const auto digit_of = [shift](std::int32_t number) { return static_cast<std::size_t>(number >> shift) % base; };
    std::array<std::size_t, base + 1> begins{};
    for (const std::int32_t number : numbers) ++begins[digit_of(number) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    other.resize(numbers.size());
    for (const std::int32_t number : numbers) other[begins[digit_of(number)]++] = number;
    numbers.swap(other);
  }
}

}  // namespace

void PairQueue::give_back() {
  free_memory(places_);
  free_memory(sorted_);
  free_memory(sorting_);
}

void PairQueue::add(std::uint32_t rank, std::size_t place) {
  const auto link = static_cast<Link>(place);
  List& list = lists_[rank];
  if (list.first == none) {
    list = {link, link};
    places_[place] = {none, none};
    ranks_.insert(rank);
  } else if (link < list.first) {
    places_[place] = {none, list.first};
    at(list.first).previous = link;
    list.first = link;
  } else {
    const Link last = list.last_place();
    places_[place] = {last, none};
    at(last).next = link;
    list.last = list.is_in_order() && link > last ? link : ~link;
  }
}

void PairQueue::remove(std::uint32_t rank, std::size_t place) {
  const Place removed = places_[place];
  List& list = lists_[rank];
  if (removed.previous != none) at(removed.previous).next = removed.next;
  if (removed.next != none) at(removed.next).previous = removed.previous;
  if (list.first == static_cast<Link>(place)) list.first = removed.next;
  if (list.last_place() == static_cast<Link>(place)) list.set_last(removed.previous);
  if (list.first == none) {
    list = {};
    ranks_.erase(rank);
  }
}

PairQueue::Pair PairQueue::take() {
  const auto rank = static_cast<std::uint32_t>(ranks_.least());
  List& list = lists_[rank];
  if (!list.is_in_order()) put_in_order(list);
  const auto place = static_cast<std::size_t>(list.first);
  remove(rank, place);
  return {rank, place};
}

void PairQueue::put_in_order(List& list) {
  sorted_.clear();
  for (Link place = list.first; place != none; place = at(place).next) sorted_.push_back(place);
  sort_by_digits(sorted_, sorting_);
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    Place& place = at(sorted_[i]);
    place.previous = i > 0 ? sorted_[i - 1] : none;
    place.next = i + 1 < sorted_.size() ? sorted_[i + 1] : none;
  }
  list = {sorted_.front(), sorted_.back()};
}

}  // namespace monomorph::data
