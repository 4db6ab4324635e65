#include "runtime/machine/libtorch.hpp"

#include <monomorph/core/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#include <vector>

namespace monomorph::libtorch {
namespace {

constexpr const char* file = "libmonomorph_libtorch.so";
constexpr const char* entry = "monomorph_libtorch";

/// Where the loader looks for this program's libraries. It is asked for its folders, and not for the library by name,
/// because a sanitizer's dlopen stands between: the loader would look where the sanitizer's own libraries are.
std::vector<std::string> folders_of_loader() {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const found = reinterpret_cast<Dl_serinfo*>(memory.data());
  *found = size;
  if (dlinfo(program, RTLD_DI_SERINFO, found) != 0) return {};
  std::vector<std::string> folders;
  const Dl_serpath* const paths = found->dls_serpath;
  for (unsigned i = 0; i < found->dls_cnt; ++i) folders.emplace_back(paths[i].dls_name);
  return folders;
}

Error cannot_load(const std::string& reason) {
  return Error("RUN-33", fmt::format("LibTorch can't be loaded: {}; build the program again where it runs, or take "
                                     "the library along and name its folder in LD_LIBRARY_PATH",
                                     reason));
}

const Library& load() {
  for (const std::string& folder : folders_of_loader()) {
    const std::string path = folder + "/" + file;
    if (access(path.c_str(), F_OK) != 0) continue;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw cannot_load(dlerror());
    const auto get = reinterpret_cast<const Library* (*)()>(dlsym(library, entry));
    if (get == nullptr) throw cannot_load(dlerror());
    return *get();
  }
  throw cannot_load(fmt::format("{} is in none of the folders where the program looks for libraries", file));
}

}  // namespace

const Library& library() {
  static const Library& loaded = load();
  return loaded;
}

}  // namespace monomorph::libtorch
