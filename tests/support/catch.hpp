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
