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

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("1.safetensors", file_with("a"));
  folder.put("2.safetensors", file_with("b"));
  folder.put("model.safetensors.index.json", fuzz::as_text(data, size));
  return fuzz::refusing([&] {
    const train::FolderTensors tensors(folder.path());
    for (const auto& [name, tensor] : tensors.all()) {
      fuzz::require(name == tensor.entry->name && (name == "a" || name == "b"), "a tensor is in a file");
      fuzz::require(std::filesystem::path(tensor.file->path()).parent_path() == folder.path(),
                    "files lie in the folder");
    }
  });
}
