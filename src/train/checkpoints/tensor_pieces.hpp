#pragma once
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

/// The elements that are looked at together, which bounds the memory that is needed whatever a checkpoint holds.
inline constexpr std::int64_t elements_of_piece = std::int64_t{1} << 20;

/// Calls visit(first, n) for all elements of a tensor, so many at a time.   @throws [CHECKPOINT-35] after a signal
void for_each_piece(std::int64_t n_elements, const std::function<void(std::int64_t first, std::int64_t n)>& visit);

/// Reads `n` elements from `first` on, and lets go of what has been mapped to do so.
/// @param bytes resized; keeps its memory from call to call
void read_piece(runtime::CheckpointReader& checkpoint, const std::string& name, std::int64_t first, std::int64_t n,
                std::vector<std::byte>& bytes);

/// Widened without loss, but for integers of more than 53 bits.
void widen(runtime::FileDType dtype, std::span<const std::byte> elements, std::vector<double>& numbers);

/// Rounded once, to the nearest, ties to even.   @param dtype a floating-point one
void narrow(std::span<const double> numbers, runtime::FileDType dtype, std::vector<std::byte>& elements);

bool is_floating_point(runtime::FileDType dtype);

}  // namespace monomorph::train
