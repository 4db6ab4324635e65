// safetensors: the tensors of an accepted file lie within it, one behind the other.
#include <monomorph/runtime/files/safetensors.hpp>

#include "harness.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    const auto header = runtime::parse_safetensors(fuzz::as_bytes(data, size), "F.safetensors");
    std::size_t end = 0;
    for (const runtime::TensorEntry& tensor : header.tensors) {
      fuzz::require(tensor.begin == end && tensor.begin <= tensor.end, "tensors follow each other");
      std::size_t bytes = runtime::bytes_per_element(tensor.dtype);
      for (const std::int64_t length : tensor.shape) bytes *= static_cast<std::size_t>(length);
      fuzz::require(bytes == tensor.end - tensor.begin, "a tensor has the bytes of its shape");
      end = tensor.end;
    }
    fuzz::require(header.data_begin + end == size, "the tensors fill the file");
  });
}
