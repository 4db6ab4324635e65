#pragma once
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// Weights by their canonical names, wherever they lie.
class WeightsSource {
 public:
  virtual ~WeightsSource() = default;

  virtual std::string where() const = 0;  ///< for messages
  /// The names, as they are there, of parameters that the recipe has no place for.
  virtual std::vector<std::string> unused() const = 0;
  /// Null if there is none of that name. A vector has one row.
  virtual const Shape* find(const std::string& name) const = 0;
  /// The rows that a table has by what is said there of the model; nothing if nothing says it.
  virtual std::optional<std::int64_t> rows_said(const std::string& /*name*/) const { return std::nullopt; }
  /// As many consecutive elements as the view has, converted to its dtype.
  /// @param first element, in the order of the tensor's rows   @param to contiguous, in the host's memory
  virtual void read(const std::string& name, std::int64_t first, View to) = 0;
  /// The bytes of a matrix that is there in NF4.   @return false: it is not, and `to` is as it was
  virtual bool read_nf4(const std::string& /*name*/, const Nf4Matrix& /*to*/) { return false; }
  /// The numbers of such a matrix, in the dtype of `to`, which is contiguous: those that its bytes make.
  virtual void dequantize_nf4(const std::string& name, View to);
  /// Compares what lies there twice, in bounded pieces.   @throws UsageError [WEIGHTS-15] a copy differs
  virtual void check_copies() {}
  /// A number that differs where the weights do, for ranks to compare what each has opened.
  virtual std::uint64_t identity() const { return 0; }
  /// A line on what reading has changed; empty if nothing.
  virtual std::string note_of_reading() const { return ""; }
};

/// The elements that are read and converted at a time: what bounds the memory that is needed beside the weights.
inline constexpr std::int64_t elements_at_a_time = std::int64_t{1} << 22;

/// Calls visit(first, n) for all of `elements`, so many at a time.
template <class Visit>
void in_bounded_pieces(std::int64_t elements, Visit visit, std::int64_t at_a_time = elements_at_a_time) {
  for (std::int64_t first = 0; first < elements; first += at_a_time)
    visit(first, elements - first < at_a_time ? elements - first : at_a_time);
}

}  // namespace monomorph::train
