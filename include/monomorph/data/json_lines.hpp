#pragma once
#include <monomorph/data/input_file.hpp>

#include <memory>
#include <string>

namespace monomorph::data {

/// Checks that a line is one JSON value.  @throws [DATA-02] with line and byte offset
void check_json_line(const Line& line, const std::string& path);

/// Takes the text out of the records of a JSON Lines file.
class TextField {
 public:
  /// @param pointer where the text is, a JSON Pointer such as "/text"   @throws [DATA-10] if it is none
  explicit TextField(std::string pointer);
  TextField(TextField&&) noexcept;
  TextField& operator=(TextField&&) noexcept;
  ~TextField();

  /// @throws [DATA-02] if the line is no JSON; [DATA-03] if it has no such field, or one that is not text
  std::string of(const Line& line, const std::string& path) const;

 private:
  struct Pointer;
  std::string text_;
  std::unique_ptr<Pointer> pointer_;
};

}  // namespace monomorph::data
