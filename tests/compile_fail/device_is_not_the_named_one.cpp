// expect-error: \[DEVICE-02\] a recipe that names its device must be built for no other one
#include "support/control.hpp"
struct Other : monomorph::device::Cpu {
  static constexpr std::string_view name = "Other";
};
struct Pinned : Control {
#if NEGATIVE
  using device = monomorph::device::Cpu;
#else
  using device = Other;
#endif
};
static_assert(monomorph::admit<monomorph::On<Pinned, Other>>());
static_assert(std::is_same_v<monomorph::OnDefault<Pinned, Other>, Pinned>);
static_assert(std::is_same_v<monomorph::OnDefault<Control, monomorph::device::Cpu>, Control>);
static_assert(std::is_same_v<monomorph::OnDefault<Control, Other>, monomorph::On<Control, Other>>);
