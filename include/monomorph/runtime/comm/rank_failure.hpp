#pragma once
#include <monomorph/core/error.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph {

/// Another rank has gone, or did not come in time, so that this one can't go on.
class RankFailure : public Error {
 public:
  /// @param other absent if nothing says which   @param text "rank 2 did not send its part within 300 s"
  RankFailure(std::optional<int> other, ErrorId id, std::string_view text) : Error(id, text), other_(other) {}
  std::optional<int> other() const { return other_; }
  /// The same, and what this rank was doing: "while the gradients of unit 3 were reduced".
  RankFailure during(std::string_view doing) const {
    return {other_, id(), std::string(text()) + ", while " + std::string(doing)};
  }

 private:
  std::optional<int> other_;
};

}  // namespace monomorph
