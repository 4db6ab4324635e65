#pragma once

namespace monomorph {

/// A visitor for std::visit made of one lambda per alternative.
template <class... Cases> struct Overloaded : Cases... { using Cases::operator()...; };
template <class... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace monomorph
