#include "safetensors_format.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/safetensors.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <tuple>

namespace monomorph::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

constexpr std::size_t alignment = 64;

/// `text` as a JSON string.
std::string json_string(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error("SAFETENSORS-08", "the name or metadata " + in_quotes(text) + " must be UTF-8 to be saved; rename it");
  }
}

struct Placed {
  const TensorToWrite* tensor;
  std::size_t n_bytes;
};

std::vector<Placed> place(std::span<const TensorToWrite> tensors) {
  std::vector<Placed> placed;
  std::set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) {
    if (tensor.name == safetensors_format::metadata_key) {
      throw Error("SAFETENSORS-08", "no tensor may be named \"__metadata__\"; rename it");
    }
    if (!names.insert(tensor.name).second) {
      throw Error("SAFETENSORS-07", "two tensors are named " + in_quotes(tensor.name) + "; rename one of them");
    }
    const auto n_bytes = safetensors_format::byte_size(tensor.dtype, tensor.shape);
    if (!n_bytes) {
      throw Error("SAFETENSORS-04", fmt::format("tensor {} cannot have shape [{}]", in_quotes(tensor.name),
                                                fmt::join(tensor.shape, ", ")));
    }
    placed.push_back({&tensor, *n_bytes});
  }
  std::ranges::stable_sort(placed, {}, [](const Placed& item) {
    const auto element = static_cast<std::ptrdiff_t>(bytes_per_element(item.tensor->dtype));
    return std::tuple(item.n_bytes % alignment != 0, item.n_bytes % alignment != 0 ? -element : 0);
  });
  return placed;
}

std::string header_of(std::span<const Placed> placed, const TensorMetadata& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata) pairs.push_back(json_string(key) + ":" + json_string(value));
    members.push_back(fmt::format("\"{}\":{{{}}}", safetensors_format::metadata_key, fmt::join(pairs, ",")));
  }
  std::size_t offset = 0;
  for (const auto& [tensor, n_bytes] : placed) {
    members.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                                  json_string(tensor->name), name_of(tensor->dtype), fmt::join(tensor->shape, ","),
                                  offset, offset + n_bytes));
    offset += n_bytes;
  }
  std::string header = fmt::format("{{{}}}", fmt::join(members, ","));
  const std::size_t end = safetensors_format::length_bytes + header.size();
  header.append((alignment - end % alignment) % alignment, ' ');
  return header;
}

void give_bytes(const Placed& placed, const ByteSink& sink) {
  if (!placed.tensor->give) return sink({placed.tensor->data, placed.n_bytes});
  std::size_t given = 0;
  placed.tensor->give([&](std::span<const std::byte> bytes) {
    given += bytes.size();
    sink(bytes);
  });
  if (given != placed.n_bytes)
    throw std::logic_error(
        fmt::format("{} bytes are given of {}, and its shape has {}", given, placed.tensor->name, placed.n_bytes));
}

}  // namespace

void write_safetensors(const ByteSink& sink, std::span<const TensorToWrite> tensors, const TensorMetadata& metadata) {
  const std::vector<Placed> placed = place(tensors);
  const std::string header = header_of(placed, metadata);
  const std::uint64_t header_bytes = header.size();
  sink(std::as_bytes(std::span{&header_bytes, 1}));
  sink(std::as_bytes(std::span{header.data(), header.size()}));
  for (const Placed& one : placed)
    if (one.n_bytes > 0) give_bytes(one, sink);
}

void write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                       const TensorMetadata& metadata) {
  AtomicFile file(path);
  write_safetensors([&](std::span<const std::byte> bytes) { file.write(bytes); }, tensors, metadata);
  file.commit();
}

}  // namespace monomorph::runtime
