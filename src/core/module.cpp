#include "core/module.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace monomorph {
namespace {

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

}  // namespace

void* find_in_module(const std::string& file, const char* name) {
  for (const std::string& folder : folders_of_loader()) {
    const std::string path = folder + "/" + file;
    if (access(path.c_str(), F_OK) != 0) continue;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    return found;
  }
  return nullptr;
}

}  // namespace monomorph
