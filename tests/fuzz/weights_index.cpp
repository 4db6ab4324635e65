// The index of weights in several files: accepted, it names each tensor of the files beside it, and no other file.
#include "harness.hpp"
#include "memory_folder.hpp"
#include "train/weights/model_folder.hpp"

using namespace monomorph;

namespace {

/// A safetensors file with one tensor of four bytes.
std::string file_with(const std::string& tensor) {
  const std::string header = R"({")" + tensor + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return bytes + header + std::string(4, '\0');
}

fuzz::MemoryFile file_of(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  static const fuzz::MemoryFile first = file_of(file_with("a")), second = file_of(file_with("b"));
  folder.put("1.safetensors", first);
  folder.put("2.safetensors", second);
  const fuzz::MemoryFile index(data, size);
  folder.put("model.safetensors.index.json", index);
  return fuzz::refusing([&] {
    const train::FolderTensors tensors(folder.path());
    for (const auto& [name, tensor] : tensors.all()) {
      fuzz::require(name == tensor.entry->name && (name == "a" || name == "b"), "a tensor is in a file");
      fuzz::require(std::filesystem::path(tensor.file->path()).parent_path() == folder.path(),
                    "files lie in the folder");
    }
  });
}
