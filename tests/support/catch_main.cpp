// The main of Catch2 v2, compiled once for all test programs; v3 brings its own as a library.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
