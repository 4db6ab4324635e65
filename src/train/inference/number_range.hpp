#pragma once
#include "train/inference/byte_grammar.hpp"

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// A decimal number, exactly as it is written.
struct Decimal {
  bool negative = false;
  std::string integer = "0";  ///< without zeros before it
  std::string fraction{};     ///< without zeros behind it

  bool is_zero() const { return integer == "0" && fraction.empty(); }
  Decimal magnitude() const { return {false, integer, fraction}; }
  std::strong_ordering operator<=>(const Decimal& other) const;
  bool operator==(const Decimal& other) const { return (*this <=> other) == 0; }
};

/// Of a JSON number; nothing if it has more than a hundred digits before or behind the point.
std::optional<Decimal> decimal_of(std::string_view number);

/// Where a range ends; the bound itself may belong to it or not.
struct NumberBound {
  Decimal at;
  bool exclusive = false;
};

/// Which numbers may be written, and whether with a fraction.
struct NumberRange {
  std::optional<NumberBound> least, most;
  bool whole = false;
};

/// The numbers of a range, written without an exponent and with as many digits as JsonRules lets them have.
void add_numbers_in(GrammarBuilder& builder, std::int32_t from, const NumberRange& range, std::int32_t to);

}  // namespace monomorph::train
