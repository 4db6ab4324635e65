#pragma once
#include <string>

/// Modules: libraries of ours that a program opens when it first needs them, because what they are linked with takes
/// long to load and most of what a program is asked needs nothing of it.
namespace monomorph {

/// What a module exports by this name. A module is looked for where the loader looks for the program's libraries.
/// @param file "libmonomorph_libtorch.so"   @return null if none of these folders has the file
/// @throws std::runtime_error it is there and can't be loaded: the loader's words
void* find_in_module(const std::string& file, const char* name);

}  // namespace monomorph
