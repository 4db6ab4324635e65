#include "data/records/line_block.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace monomorph::data {
namespace {

// Small enough to stay in the cache between being read and being parsed.
constexpr std::size_t usual_block_bytes = std::size_t{256} << 10;

/// Keeps what the block holds. Memory that is never touched costs nothing, so a long line gets all it may need at once.
void reserve(LineBlock& block, std::size_t capacity) {
  if (block.capacity >= capacity) return;
  std::unique_ptr<char[]> bytes(new char[capacity + LineBlock::padding_bytes]);
  if (block.size > 0) std::memcpy(bytes.get(), block.bytes.get(), block.size);
  block.bytes = std::move(bytes);
  block.capacity = capacity;
}

}  // namespace

LineBlockReader::LineBlockReader(const std::string& path, std::uint64_t offset, std::size_t longest_line,
                                 Columns columns)
    : paths_{path},
      columns_(std::move(columns)),
      file_(std::make_unique<TextInput>(path, columns_)),
      file_bytes_(file_->text_bytes()),
      offset_(offset),
      longest_line_(longest_line) {
  if (offset > 0) file_->skip_to(offset);
}

LineBlockReader::LineBlockReader(std::vector<std::string> paths, Columns columns)
    : LineBlockReader(paths.front(), 0, longest_line_bytes, std::move(columns)) {
  paths_ = std::move(paths);
  bool is_known = file_->has_text_bytes();
  for (std::size_t i = 1; i < paths_.size(); ++i) {
    std::error_code unreadable;  // opening it says why
    const bool is_pipe = std::filesystem::is_other(std::filesystem::status(paths_[i], unreadable));
    is_known = !is_pipe && is_known;
    if (is_pipe) continue;                      // to be opened once
    const TextInput file(paths_[i], columns_);  // so that a wrong name is told at once
    is_known = file.has_text_bytes() && is_known;
    file_bytes_ += file.text_bytes();
  }
  if (!is_known) file_bytes_ = 0;
}

bool LineBlockReader::next(LineBlock& block) {
  do
    if (read_block(block)) return true;
  while (open_next());
  return false;
}

bool LineBlockReader::open_next() {
  if (input_ + 1 == paths_.size()) return false;
  file_ = std::make_unique<TextInput>(paths_[++input_], columns_);
  input_begin_ = offset_;
  at_end_ = false;
  return true;
}

bool LineBlockReader::read_block(LineBlock& block) {
  if (block.capacity > 2 * usual_block_bytes) block = {};  // a long line is rare, so its memory is not kept
  block.size = block.n_done = 0;
  block.is_one_too_long = block.has_rest = false;
  block.offset = block.end_offset = offset_;
  block.input = input_;
  block.input_begin = input_begin_;
  reserve(block, usual_block_bytes);
  if (left_over_.size() > block.capacity) reserve(block, std::max(longest_line_bytes + 1, left_over_.size()));
  std::memcpy(block.bytes.get(), left_over_.data(), left_over_.size());
  block.size = left_over_.size();
  left_over_.clear();
  read_to_newline(block);
  std::memset(block.bytes.get() + block.size, 0, LineBlock::padding_bytes);
  offset_ = block.end_offset;
  return block.is_one_too_long || block.size > 0;
}

void LineBlockReader::read_to_newline(LineBlock& block) {
  const char* newline = nullptr;
  std::size_t searched = 0;
  while (true) {
    const char* const begin = block.bytes.get();
    if (const void* found = ::memrchr(begin + searched, '\n', block.size - searched))
      newline = static_cast<const char*>(found);
    if (at_end_ || (newline != nullptr && block.size >= usual_block_bytes / 2)) break;
    if (block.size == block.capacity) {  // with no newline in it
      if (block.size > longest_line_) return skip_line(block);
      reserve(block, std::min(longest_line_ + 1, std::max(longest_line_bytes + 1, 2 * block.capacity)));
    }
    searched = block.size;
    const std::size_t wanted = std::min(block.capacity - block.size, std::max(usual_block_bytes, block.size));
    block.size += read_some(block.bytes.get() + block.size, wanted);
  }
  if (!at_end_) {
    const auto lines = static_cast<std::size_t>(newline - block.bytes.get()) + 1;
    left_over_.assign(newline + 1, block.size - lines);
    block.size = lines;
  }
  block.end_offset = block.offset + block.size;
}

void LineBlockReader::skip_line(LineBlock& block) {
  block.end_offset = block.offset + block.size;
  block.size = 0;
  block.is_one_too_long = true;
  char* const piece = block.bytes.get();
  while (const std::size_t n_read = read_some(piece, usual_block_bytes)) {
    if (const void* found = std::memchr(piece, '\n', n_read)) {
      const auto skipped = static_cast<std::size_t>(static_cast<const char*>(found) - piece) + 1;
      left_over_.assign(piece + skipped, n_read - skipped);
      block.end_offset += skipped;
      return;
    }
    block.end_offset += n_read;
  }
}

std::size_t LineBlockReader::read_some(char* to, std::size_t n_bytes) {
  const std::size_t n_read = file_->read_some(to, n_bytes);
  at_end_ = n_read == 0;
  return n_read;
}

}  // namespace monomorph::data
