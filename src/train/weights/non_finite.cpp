#include "train/weights/non_finite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <vector>

namespace monomorph::train {
namespace {

/// Numbers whose exponent has all bits set.
template <class Bits> std::int64_t with_full_exponent(View view, Bits exponent) {
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < view.elements(); ++i) {
    Bits bits;
    std::memcpy(&bits, view.data + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    n += (bits & exponent) == exponent ? 1 : 0;
  }
  return n;
}

}  // namespace

std::int64_t non_finite(View view) {
  switch (view.dtype) {
    case DType::fp64:
      return with_full_exponent<std::uint64_t>(view, 0x7FF0'0000'0000'0000);
    case DType::fp32:
      return with_full_exponent<std::uint32_t>(view, 0x7F80'0000);
    case DType::bf16:
      return with_full_exponent<std::uint16_t>(view, 0x7F80);
    case DType::fp16:
      return with_full_exponent<std::uint16_t>(view, 0x7C00);
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      break;  // no weights of ours have them
  }
  __builtin_unreachable();
}

void count_non_finite(const std::string& name, View view, NonFiniteNumbers& numbers) {
  if (const std::int64_t n = non_finite(view); n > 0) numbers[name] += n;
}

std::string counts_text(const NonFiniteNumbers& numbers) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> first;
  for (const auto& [name, n] : numbers)
    if (first.size() < most_named) first.push_back(fmt::format("{} in {}", n, name));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     numbers.size() > most_named ? fmt::format(", and more in {} tensors", numbers.size() - most_named)
                                                 : "");
}

std::string warning_of(const NonFiniteNumbers& numbers, const std::string& where) {
  if (numbers.empty()) return "";
  return fmt::format("warning: [WEIGHTS-11] weights in {} are NaN or infinite: {}", where, counts_text(numbers));
}

}  // namespace monomorph::train
