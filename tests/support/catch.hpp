#pragma once
// Catch2 v2 (Debian 12) is one header of another name than v3 (Ubuntu 24.04); in v3, Approx lives in its namespace.
// LibTorch's headers define CHECK, too: include them before this one, which puts Catch2's in its place.
#undef CHECK
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

/// Ends a test case that this machine cannot run, as `reason` says. ctest shows it as skipped, by its output
/// (cmake/MonomorphCatch2.cmake): Catch2 v2 has no SKIP.
#define MONOMORPH_SKIP(reason)                       \
  do {                                               \
    WARN("this-test-case-is-skipped: " << (reason)); \
    return;                                          \
  } while (false)
