#include "data/tokenizer/stages/unicode_forms.hpp"

#include "data/text/unicode_sets.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace monomorph::data {
namespace {

using normalizers::UnicodeForm;

// The characters of combining class 0 that a character before them may take in.
const CodePointSet starters_that_compose{
    {0x09BE, 0x09BE},   {0x09D7, 0x09D7},   {0x0B3E, 0x0B3E},   {0x0B56, 0x0B57},   {0x0BBE, 0x0BBE},
    {0x0BD7, 0x0BD7},   {0x0CC2, 0x0CC2},   {0x0CD5, 0x0CD6},   {0x0D3E, 0x0D3E},   {0x0D57, 0x0D57},
    {0x0DCF, 0x0DCF},   {0x0DDF, 0x0DDF},   {0x102E, 0x102E},   {0x1161, 0x1175},   {0x11A8, 0x11C2},
    {0x1B35, 0x1B35},   {0x11127, 0x11127}, {0x1133E, 0x1133E}, {0x11357, 0x11357}, {0x114B0, 0x114B0},
    {0x114BA, 0x114BA}, {0x114BD, 0x114BD}, {0x115AF, 0x115AF},
};

constexpr bool composes(UnicodeForm form) { return form == UnicodeForm::nfc || form == UnicodeForm::nfkc; }
constexpr bool is_compatible(UnicodeForm form) { return form == UnicodeForm::nfkc || form == UnicodeForm::nfkd; }

/// Below it no character changes, and none changes the one before it.
constexpr char32_t first_to_look_at(UnicodeForm form) {
  if (is_compatible(form)) return 0xA0;
  return composes(form) ? 0x300 : 0xC0;
}

const utf8proc_property_t& property_of(char32_t code_point) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
}

/// What a form can do with a character.
enum class Role {
  unknown,   ///< nothing, and it parts what is before it from what is after it
  starter,   ///< nothing but let it take in those after it
  variable,  ///< anything
};

class FormWriter {
 public:
  FormWriter(UnicodeForm form, std::string_view text) : form_(form), text_(text) {}

  /// The text in its form; nothing if it is in it already, as texts mostly are.
  bool write(std::string& result) {
    std::size_t copied = 0;
    std::size_t segment = 0;  // where the segment would begin that the next character belongs to
    for (std::size_t position = 0; position < text_.size();) {
      const Utf8Character character = first_character(text_.substr(position));
      const Role role = role_of(character.code_point);
      if (role == Role::variable) {
        const std::size_t end = segment_end(position);
        result.append(text_.substr(copied, segment - copied));
        write_segment(text_.substr(segment, end - segment), result);
        copied = segment = position = end;
        continue;
      }
      segment = role == Role::starter ? position : position + character.n_bytes;
      position += character.n_bytes;
    }
    if (copied == 0) return false;
    result.append(text_.substr(copied));
    return true;
  }

 private:
  Role role_of(char32_t code_point) const {
    if (code_point < first_to_look_at(form_)) return Role::starter;
    if (unicode::unknown_to_normalizer().contains(code_point)) return Role::unknown;
    const utf8proc_property_t& property = property_of(code_point);
    if (property.combining_class != 0) return Role::variable;
    if (code_point >= 0xAC00 && code_point <= 0xD7A3) return composes(form_) ? Role::starter : Role::variable;
    constexpr auto none = static_cast<utf8proc_uint16_t>(0xFFFF);
    const bool decomposes = property.decomp_seqindex != none && (property.decomp_type == 0 || is_compatible(form_));
    const bool is_taken_in = composes(form_) && starters_that_compose.contains(code_point);
    return decomposes || is_taken_in ? Role::variable : Role::starter;
  }

  std::size_t segment_end(std::size_t position) const {
    while (position < text_.size()) {
      const Utf8Character character = first_character(text_.substr(position));
      if (role_of(character.code_point) != Role::variable) break;
      position += character.n_bytes;
    }
    return position;
  }

  void write_segment(std::string_view segment, std::string& result) {
    decompose(segment);
    order_marks();
    auto size = static_cast<utf8proc_ssize_t>(code_points_.size());
    if (composes(form_)) {
      const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
      size = utf8proc_normalize_utf32(code_points_.data(), size, options);
    }
    for (utf8proc_ssize_t i = 0; i < size; ++i) {
      utf8proc_uint8_t bytes[4];
      const utf8proc_ssize_t n_bytes = utf8proc_encode_char(code_points_[static_cast<std::size_t>(i)], bytes);
      result.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n_bytes));
    }
  }

  void decompose(std::string_view segment) {
    const int options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (is_compatible(form_) ? UTF8PROC_COMPAT : 0);
    code_points_.clear();
    while (!segment.empty()) {
      constexpr std::size_t longest_decomposition = 32;  // the longest that there is has 18
      utf8proc_int32_t decomposition[longest_decomposition];
      const Utf8Character character = first_character(segment);
      int last_class = 0;
      const utf8proc_ssize_t size =
          utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character.code_point), decomposition,
                                  longest_decomposition, static_cast<utf8proc_option_t>(options), &last_class);
      code_points_.insert(code_points_.end(), decomposition, decomposition + size);
      segment.remove_prefix(character.n_bytes);
    }
  }

  /// Sorts every run of marks by class. utf8proc's own way takes quadratic time on long runs.
  void order_marks() {
    const auto class_of = [](utf8proc_int32_t code_point) {
      return property_of(static_cast<char32_t>(code_point)).combining_class;
    };
    const auto comes_first = [&](auto a, auto b) { return class_of(a) < class_of(b); };
    const auto is_mark = [&](auto code_point) { return class_of(code_point) != 0; };
    for (auto begin = code_points_.begin(); begin != code_points_.end();) {
      begin = std::find_if(begin, code_points_.end(), is_mark);
      const auto end = std::find_if_not(begin, code_points_.end(), is_mark);
      if (!std::is_sorted(begin, end, comes_first)) std::stable_sort(begin, end, comes_first);
      begin = end;
    }
  }

  UnicodeForm form_;
  std::string_view text_;
  std::vector<utf8proc_int32_t> code_points_;
};

}  // namespace

void to_unicode_form(UnicodeForm form, std::string& text) {
  std::string result;
  if (FormWriter(form, text).write(result)) text = std::move(result);
}

}  // namespace monomorph::data
