#pragma once

namespace monomorph::data {

/// One visitor of a std::variant out of several lambdas.
template <class... Visitors> struct Overloaded : Visitors... { using Visitors::operator()...; };

}  // namespace monomorph::data
