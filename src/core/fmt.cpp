// fmt's functions, compiled here for everybody: header-only they would cost seconds in every file that formats.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v12 {
namespace detail {

template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl(locale_ref);

}  // namespace detail
}  // namespace v12
}  // namespace fmt
