#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// The names by which a server may be asked that this machine alone reaches. A page in a browser can have its own name
/// resolve to this machine and then read the server as if it were its own (DNS rebinding); but it cannot have the
/// browser send another name than that (docs/why/serving.md).
class LoopbackHosts {
 public:
  /// Nothing if other machines may reach this address, or nobody knows it.
  /// @param address that the server listens on, or a name of it
  static std::optional<LoopbackHosts> of(const std::string& address);

  /// @param host the value of a header Host, with a port or without
  bool have(std::string_view host) const;

 private:
  explicit LoopbackHosts(std::string address) : address_(std::move(address)) {}

  std::string address_;
};

}  // namespace monomorph::train
