#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>
#include <utility>
#include <vector>

namespace monomorph::train {

/// The matrices of a recipe that are kept in NF4, and the place where numbers are made of those of one unit at a time.
template <class R> class PackedMatrices {
  using Queue = typename device_of<R>::Queue;

 public:
  PackedMatrices(Queue queue, Arena& arena)
      : queue_(queue), numbers_(arena.take(plan::unpacked_elements<R>, R::precision::compute_dtype)) {
    for (int u = 0; u < plan::n_units<R>; ++u) {
      const plan::PackedUnit packed = plan::packed_unit<R>(u);
      for (int i = 0; i < packed.unpacked.size(); ++i) matrices_.push_back({u, packed.unpacked[i], packed.places[i]});
    }
  }

  /// Of whichever unit was unpacked last.
  View numbers() const { return numbers_; }
  /// The unit of which numbers are there; -1: of none.
  int unpacked() const { return unpacked_; }
  void forget() { unpacked_ = -1; }
  /// @param packed all of the unit's bytes
  void unpack(int unit, View packed) {
    if (std::exchange(unpacked_, unit) == unit) return;
    for (const Matrix& matrix : matrices_)
      if (matrix.unit == unit)
        dequantize_nf4(queue_, Nf4Matrix(bytes_of(packed), matrix.places), numbers_[matrix.info.slice]);
  }
  /// @param shard (int unit): what this rank holds of the unit's bytes, whose share of them has the number shard_index
  std::vector<QuantizedMatrix> matrices(int shard_index, auto&& shard) const {
    std::vector<QuantizedMatrix> matrices;
    for (const auto& [unit, info, places] : matrices_) {
      const View held = bytes_of(shard(unit));
      matrices.push_back(quantized_matrix(info, R::precision::compute_dtype, places, unit,
                                          plan::block_of_layer<R>(unit), held, shard_index * held.bytes()));
    }
    return matrices;
  }

 private:
  static View bytes_of(View packed) { return {packed.data, DType::u8, {1, packed.bytes()}}; }

  struct Matrix {
    int unit;
    TensorInfo info;
    Nf4Places places;
  };
  Queue queue_;
  View numbers_;
  std::vector<Matrix> matrices_;
  int unpacked_ = -1;
};

/// In its place where nothing is packed.
struct NoPackedMatrices {
  NoPackedMatrices(const auto&...) {}
  static int unpacked() { return -1; }
  static void forget() {}
};

}  // namespace monomorph::train
