#pragma once
#include <cstdint>

/// Kernels whose only purpose is to be run on the emulator, right ones and wrong ones.
namespace monomorph::emulator::samples {

inline constexpr int sum_threads = 128;

/// Each of the rows of sum_threads numbers is summed, by a block for every third row.
void sum_rows(const float* x, float* sums, int rows);
/// The same without the barrier behind the partial sums, and without the one before they are written again.
void sum_rows_without_first_barrier(const float* x, float* sums, int rows);
void sum_rows_without_second_barrier(const float* x, float* sums, int rows);

/// Half of a block's threads leave before a barrier.
void leave_before_barrier();
/// Lanes 3 and 4 leave before the lanes of their warp exchange numbers.
void leave_before_shuffle();
/// Lanes 0 to 15 exchange numbers with the others, which take no part.
void ask_absent_lanes();
/// `numbers` of 64 threads: how many threads before them in their warp have an odd number, by ballot.
void count_odd(const std::uint32_t* numbers, std::uint32_t* counts);
/// All threads of 8 blocks of 64 add 1.
void count_threads(unsigned long long* count);
/// What a block's memory holds before it is written, for two blocks that write there when they have read.
void read_unwritten(float* found, std::uint32_t* found_in_dynamic);
/// Of 4 blocks of 32 threads. Each writes its number to `word`.
void write_one_word(std::uint32_t* word);
/// Each thread writes to `x`, of 4 blocks of 32 elements, and reads what its block's neighbour writes; to `y`.
void read_of_neighbours(std::uint32_t* x, std::uint32_t* y);
/// Each thread adds to `count`, and the first block reads it as others read memory.
void read_a_count(unsigned long long* count, unsigned long long* found);
/// Each block adds to `count`, has a byte of a word, reads `x`, and has memory and a stack of its own.
void race_for_nothing(unsigned long long* count, std::uint8_t* bytes, const std::uint32_t* x);
/// A launch of more threads than a block has.
void start_too_many();

}  // namespace monomorph::emulator::samples
