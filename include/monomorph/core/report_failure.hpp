#pragma once
#include <exception>

namespace monomorph {

/// Says on standard error why a program ends: "error: " and each line of an Error. Of what is no Error, which nothing
/// foresaw, the first line alone: LibTorch has its stack behind it.
/// @return the program's exit code
int report_failure(const std::exception& failure) noexcept;

}  // namespace monomorph
