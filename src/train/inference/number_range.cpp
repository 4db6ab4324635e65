#include "train/inference/number_range.hpp"

#include "train/inference/json_rules.hpp"

#include <monomorph/core/number_text.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace monomorph::train {
namespace {

constexpr std::size_t most_written_digits = 100;

std::strong_ordering compared(std::string_view a, std::string_view b) {
  return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering magnitudes_compared(const Decimal& a, const Decimal& b) {
  if (a.integer.size() != b.integer.size()) return a.integer.size() <=> b.integer.size();
  if (const auto order = compared(a.integer, b.integer); order != 0) return order;
  return compared(a.fraction, b.fraction);
}

/// Numbers without a sign from one bound to another, as their digits come: a prefix is tight to a bound as long as it
/// has the bound's own digits.
class DigitRange {
 public:
  /// @param least absent: 0   @param most absent: as many digits as there may be
  DigitRange(GrammarBuilder& builder, std::optional<NumberBound> least, std::optional<NumberBound> most, bool whole,
             std::int32_t to)
      : builder_(builder), least_(std::move(least)), most_(std::move(most)), whole_(whole), to_(to) {}

  void add(std::int32_t from) {
    for (std::size_t n = 1; n <= JsonRules::most_integer_digits; ++n) {
      if ((least_ && n < least_->at.integer.size()) || (most_ && n > most_->at.integer.size())) continue;
      n_digits_ = n;
      const std::int32_t first = builder_.node();
      builder_.skip(from, first);
      add_digits(first, false, 0, {least_ && n == least_->at.integer.size(), most_ && n == most_->at.integer.size()});
    }
  }

 private:
  struct Tight {
    bool low, high;
  };

  static char digit_of(std::string_view digits, std::size_t i) { return i < digits.size() ? digits[i] : '0'; }

  /// The digits from one to the last; `behind_point` of the fraction, whose node there may be for others already.
  void add_digits(std::int32_t from, bool behind_point, std::size_t i, Tight tight) {
    const char low = tight.low ? digit_of(part(*least_, behind_point), i) : '0',
               high = tight.high ? digit_of(part(*most_, behind_point), i) : '9';
    const bool is_first_of_several = !behind_point && i == 0 && n_digits_ > 1;
    for (char digit = is_first_of_several ? std::max(low, '1') : low; digit <= high; ++digit)
      builder_.byte(from, digit, node(behind_point, i + 1, {tight.low && digit == low, tight.high && digit == high}));
  }

  /// The node behind so many digits.
  std::int32_t node(bool behind_point, std::size_t i, Tight tight) {
    const auto key = std::tuple(behind_point ? std::size_t{0} : n_digits_, i, tight.low, tight.high);
    if (const auto known = nodes_.find(key); known != nodes_.end()) return known->second;
    const std::int32_t at = nodes_[key] = builder_.node();
    if (!behind_point && i < n_digits_) {
      add_digits(at, false, i, tight);
      return at;
    }
    const std::size_t n_behind = behind_point ? i : 0;
    if (may_end(n_behind, tight)) builder_.skip(at, to_);
    if (whole_ || n_behind == JsonRules::most_fraction_digits) return at;
    std::int32_t next = at;
    if (!behind_point) builder_.byte(at, '.', next = builder_.node());
    add_digits(next, true, n_behind, tight);
    return at;
  }

  bool may_end(std::size_t n_behind, Tight tight) const {
    const auto equals = [&](const NumberBound& bound) { return n_behind >= bound.at.fraction.size(); };
    if (tight.low && (!equals(*least_) || least_->exclusive)) return false;
    return !tight.high || !equals(*most_) || !most_->exclusive;
  }

  static std::string_view part(const NumberBound& bound, bool behind_point) {
    return behind_point ? bound.at.fraction : bound.at.integer;
  }

  GrammarBuilder& builder_;
  std::optional<NumberBound> least_, most_;
  bool whole_;
  std::int32_t to_;
  std::size_t n_digits_ = 0;
  std::map<std::tuple<std::size_t, std::size_t, bool, bool>, std::int32_t> nodes_;
};

std::optional<NumberBound> of_magnitude(const std::optional<NumberBound>& bound) {
  return bound ? std::optional(NumberBound{bound->at.magnitude(), bound->exclusive}) : std::nullopt;
}

}  // namespace

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  const bool below = negative && !is_zero(), other_below = other.negative && !other.is_zero();
  if (below != other_below) return below ? std::strong_ordering::less : std::strong_ordering::greater;
  return below ? magnitudes_compared(other, *this) : magnitudes_compared(*this, other);
}

std::optional<Decimal> decimal_of(std::string_view number) {
  Decimal decimal;
  decimal.negative = number.starts_with('-');
  if (decimal.negative) number.remove_prefix(1);
  std::int64_t exponent = 0;
  if (const std::size_t at = number.find_first_of("eE"); at != std::string_view::npos) {
    std::string_view text = number.substr(at + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto value = number_from<std::int64_t>(std::string(text));
    if (!value || std::abs(*value) > std::int64_t{1} << 20) return std::nullopt;
    exponent = *value;
    number = number.substr(0, at);
  }
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  auto n_before = static_cast<std::int64_t>(point) + exponent;
  if (point < number.size()) digits += number.substr(point + 1);
  if (const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size()); zeros > 0) {
    digits.erase(0, zeros);
    n_before -= static_cast<std::int64_t>(zeros);
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.empty()) return Decimal{};
  if (n_before > std::int64_t{most_written_digits} || std::ssize(digits) - n_before > std::int64_t{most_written_digits})
    return std::nullopt;
  if (n_before < 0) digits.insert(0, static_cast<std::size_t>(-n_before), '0'), n_before = 0;
  if (std::ssize(digits) < n_before) digits.append(static_cast<std::size_t>(n_before) - digits.size(), '0');
  decimal.integer = n_before == 0 ? "0" : digits.substr(0, static_cast<std::size_t>(n_before));
  decimal.fraction = digits.substr(static_cast<std::size_t>(n_before));
  return decimal;
}

/// What is below 0 has a sign and is bounded the other way round. Zero has none.
void add_numbers_in(GrammarBuilder& builder, std::int32_t from, const NumberRange& range, std::int32_t to) {
  const Decimal zero;
  const auto &least = range.least, &most = range.most;
  if (least && most && (least->at > most->at || (least->at == most->at && (least->exclusive || most->exclusive))))
    return;
  if (!most || most->at >= zero)
    DigitRange(builder, least && least->at >= zero ? least : std::nullopt, most, range.whole, to).add(from);
  if (least && least->at >= zero) return;
  const std::int32_t below = builder.node();
  builder.byte(from, '-', below);
  const auto from_zero = most && most->at < zero ? of_magnitude(most) : std::optional(NumberBound{zero, true});
  DigitRange(builder, from_zero, of_magnitude(least), range.whole, to).add(below);
}

}  // namespace monomorph::train
