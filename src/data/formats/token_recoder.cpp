#include "data/formats/token_recoder.hpp"

#include <type_traits>

namespace monomorph::data {
namespace {

/// Calls `action` with a zero of the type that the ids have.
template <class Action> auto with_type(TokenType type, Action action) {
  if (type.n_bytes == sizeof(std::int64_t)) return action(std::int64_t{});
  return with_id_type(type.n_bytes, [&](auto id) {
    return type.is_signed ? action(std::make_signed_t<decltype(id)>{}) : action(id);
  });
}

/// How many ids at the start of `from` are in [0, largest].
template <class Id> std::size_t n_allowed(std::span<const std::byte> from, std::int64_t largest) {
  const std::size_t n_ids = from.size() / sizeof(Id);
  std::size_t n_bad = 0;
  const auto is_bad = [&](std::size_t i) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number of one byte, not a character
    const auto id = static_cast<std::int64_t>(number_at<Id>(from, i * sizeof(Id)));
    return id < 0 || id > largest;
  };
  for (std::size_t i = 0; i < n_ids; ++i) n_bad += is_bad(i) ? 1 : 0;  // without a way out, so that it is vectorised
  if (n_bad == 0) return n_ids;
  std::size_t i = 0;
  while (!is_bad(i)) ++i;
  return i;
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
    with_id_type(to_bytes_, [&](auto to) { copy_ids<decltype(from), decltype(to)>(piece, recoded_.data()); });
  });
  sink.write(recoded_);
  return true;
}

}  // namespace monomorph::data
