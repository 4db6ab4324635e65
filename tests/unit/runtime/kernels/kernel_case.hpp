#pragma once
#include <functional>
#include <monomorph/runtime/memory/view.hpp>
#include "kernel_oracle.hpp"

/// One kernel, its inputs and what it should give, checked in every dtype, instruction set and number of threads.
namespace monomorph::testing {

using oracle::Matrix;
using oracle::Values;

/// What a matrix is to the step, which decides its dtype: in bf16 and fp16, statistics and gradients are fp32.
enum class Role { activation, statistics, gradient };
DType dtype_of(Role role, DType compute);

struct Input {
  Matrix matrix;
  Role role = Role::activation;
};
struct Output {
  Matrix expected;  ///< no values: not compared with a reference
  Role role = Role::activation;
  Values before = {};  ///< what is there before the kernel runs; empty: NaN, so that what is not written shows
};
struct KernelCase {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::function<void(const std::vector<View>& in, const std::vector<View>& out)> run;
  double tolerance = 1e-9;       ///< of fp64 against the reference
  double fp32_tolerance = 1e-5;  ///< of fp32 against fp64
};

/// fp64 against the reference, fp32 against our fp64, bf16 and fp16 against the rounding of our fp32; rows side by side
/// and apart (nothing between them may change); on every instruction set of this processor; same bits with 1, 2 and 3
/// threads.
void check(const KernelCase& kernel);

/// Owns what a view shows.
class Storage {
 public:
  Storage(const Matrix& matrix, DType dtype, std::int64_t gap = 0);
  Storage(const Storage& other) : bytes_(other.bytes_), view_(other.view_) {
    if (view_.present()) view_.data = bytes_.data();
  }
  Storage(Storage&&) = default;  // bytes stay where they are
  Storage& operator=(Storage&&) = default;
  Storage& operator=(const Storage& other) { return *this = Storage(other); }
  const View& view() const { return view_; }
  Values values() const;
  bool gap_untouched() const;
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  View view_;
};

/// Rows cut into documents of 1, 2, 3, … tokens, going on from row to row.
std::vector<std::int32_t> growing_documents(std::int64_t rows, std::int64_t tokens);

/// Numbers of about unit size, different for each seed.
Matrix random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed);
Matrix filled(std::int64_t rows, std::int64_t cols, double value);
Matrix shape_only(std::int64_t rows, std::int64_t cols);
double rounded(double value, DType dtype);

/// |a - b| / |b|, Euclidean.
double relative_error(const Values& a, const Values& b);

/// Runs f with each instruction set that this processor has, then goes back to the widest.
void for_each_isa(const std::function<void(const char* name)>& f);
/// Runs f with a number of threads.
void with_threads(int threads, const std::function<void()>& f);

}  // namespace monomorph::testing
