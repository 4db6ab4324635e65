#include "runtime/machine/libtorch.hpp"

#include "core/module.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <stdexcept>

namespace monomorph::libtorch {
namespace {

Error cannot_load(const std::string& reason) {
  return Error("RUN-33", fmt::format("LibTorch can't be loaded: {}; build the program again where it runs, or take "
                                     "the library along and name its folder in LD_LIBRARY_PATH",
                                     reason));
}

const Library& load() {
  const std::string module = "libmonomorph_libtorch.so";
  void* entry = nullptr;
  try {
    entry = find_in_module(module, "monomorph_libtorch");
  } catch (const std::runtime_error& failure) {
    throw cannot_load(failure.what());
  }
  if (entry == nullptr) throw cannot_load(module + " is in none of the folders where the program looks for libraries");
  return *reinterpret_cast<const Library* (*)()>(entry)();
}

}  // namespace

const Library& library() {
  static const Library& loaded = load();
  return loaded;
}

}  // namespace monomorph::libtorch
