#pragma once
#include <string>
#include <vector>

namespace monomorph {

/// One of several files that are told apart by name. The name is empty where there is only one, without a name.
struct NamedPath {
  std::string name, path;
  friend bool operator==(const NamedPath&, const NamedPath&) = default;
};
using NamedPaths = std::vector<NamedPath>;

}  // namespace monomorph
