#include "data/token_recoder.hpp"

#include <algorithm>

namespace monomorph::data {
namespace {

/// Calls `action` with a zero of the type that the ids have.
template <class Action> auto with_type(TokenType type, Action action) {
  switch (type.n_bytes) {
    case 1:
      return type.is_signed ? action(std::int8_t{}) : action(std::uint8_t{});
    case 2:
      return type.is_signed ? action(std::int16_t{}) : action(std::uint16_t{});
    case 4:
      return type.is_signed ? action(std::int32_t{}) : action(std::uint32_t{});
    default:
      return action(std::int64_t{});
  }
}

/// How many ids at the start of `from` are in [0, largest].
template <class Id> std::size_t n_allowed(std::span<const std::byte> from, std::int64_t largest) {
  const std::size_t n_ids = from.size() / sizeof(Id);
  std::size_t n_bad = 0;
  const auto is_bad = [&](std::size_t i) {
    const auto id = static_cast<std::int64_t>(number_at<Id>(from, i * sizeof(Id)));
    return id < 0 || id > largest;
  };
  for (std::size_t i = 0; i < n_ids; ++i) n_bad += is_bad(i) ? 1 : 0;  // without a way out, so that it is vectorised
  if (n_bad == 0) return n_ids;
  std::size_t i = 0;
  while (!is_bad(i)) ++i;
  return i;
}

template <class From, class To> void copy_ids(std::span<const std::byte> from, std::byte* to) {
  for (std::size_t i = 0; i < from.size() / sizeof(From); ++i) {
    const auto id = static_cast<To>(number_at<From>(from, i * sizeof(From)));
    std::memcpy(to + i * sizeof(To), &id, sizeof id);
  }
}

}  // namespace

bool TokenRecoder::recode(std::span<const std::byte> piece, DocumentSink& sink) {
  const std::size_t n_ids = piece.size() / from_.n_bytes;
  const std::size_t n_good = with_type(from_, [&](auto id) { return n_allowed<decltype(id)>(piece, largest_id_); });
  if (n_good < n_ids) {
    refused_id_ = with_type(from_, [&](auto id) {
      return static_cast<std::int64_t>(number_at<decltype(id)>(piece, n_good * sizeof id));
    });
    return false;
  }
  if (from_.n_bytes == to_bytes_) {
    sink.write(piece);
    return true;
  }
  recoded_.resize(n_ids * to_bytes_);
  with_type(from_, [&](auto from) {
    with_type({to_bytes_, false}, [&](auto to) { copy_ids<decltype(from), decltype(to)>(piece, recoded_.data()); });
  });
  sink.write(recoded_);
  return true;
}

}  // namespace monomorph::data
