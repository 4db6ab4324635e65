#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/cuda/products/product.hpp"

/// Which of cuBLASLt's algorithms computes a product, as it was measured on a GPU and committed. Without an entry it is
/// the one that cuBLASLt recommends first. Nothing is timed when a run begins: that could choose otherwise when the run
/// is resumed, and change its bits.
namespace monomorph::cuda {

/// What cuBLASLt makes of a GPU and a product, in its own form, which is of use to the same version only.
using Algorithm = std::array<std::uint64_t, 8>;

/// The library and the GPU that an algorithm is for.
struct AlgorithmPlace {
  int sm = 0;                 ///< 90: compute capability 9.0
  std::size_t cublas_lt = 0;  ///< its version, 130000 of CUDA 13.0
  friend bool operator==(const AlgorithmPlace&, const AlgorithmPlace&) = default;
};

/// Names this process's GPU and its cuBLASLt.
const AlgorithmPlace& algorithm_place();

/// All of a product but its addresses, as the table has it: "m768 n32768 k768 a=bf16:T:768:256 …".
std::string text_of(const Product& product);

/// A table is text: lines of `sm90 130000 <product> <algorithm> <checksum>`, and lines that begin with #. The algorithm
/// is 128 hexadecimal digits; the checksum is the XXH64 of what stands before it, in 16.
class AlgorithmTable {
 public:
  AlgorithmTable() = default;
  /// @param source where the text is from, for messages
  /// @throws UsageError [GPU-07] a line is not one of a table
  AlgorithmTable(std::string_view text, const std::string& source);

  /// Null without an entry.
  const Algorithm* find(const AlgorithmPlace& place, const Product& product) const;
  /// Whether there are entries for any product in such a place, or in another one.
  bool has_place(const AlgorithmPlace& place) const { return places_.contains({place.sm, place.cublas_lt}); }
  bool empty() const { return entries_.empty(); }
  /// A hash of its entries, whatever their order; 0 of an empty table.
  std::uint64_t hash() const;

  /// A line, with its checksum.
  static std::string line(const AlgorithmPlace& place, const Product& product, const Algorithm& algorithm);

  /// Whether the environment names it. That the one built in has nothing for the GPU at hand is no news to a user.
  bool is_asked_for = false;

 private:
  std::map<std::string, Algorithm, std::less<>> entries_;  ///< by what stands before the algorithm
  std::map<std::pair<int, std::size_t>, int> places_;
};

/// That of this process: the one that was built in, which is algorithms.txt beside this file, or the one that the
/// environment's MONOMORPH_PRODUCT_TABLE names.
/// @throws UsageError of the file, or [GPU-07] it is not a table
const AlgorithmTable& algorithm_table();

/// For tests, and for who measures.
void set_algorithm_table(AlgorithmTable table);

}  // namespace monomorph::cuda
