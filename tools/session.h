// What all commands share: where they print, how, and what they return.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// As terminals name them.
enum class Color : int { red = 31, green = 32 };

class Session {
 public:
  static constexpr int kInterrupted = 130;
  static constexpr int kRegression = 4;

  bool quiet = false;     // neither progress nor notices
  bool no_color = false;  // also by the environment's NO_COLOR
  int exit_code = 0;

  // Results: to standard output. Throws Error(failed) if it cannot be written.
  void print(std::string_view text) const;
  // The same for output without end: false when whoever read it has gone, which is no error.
  bool pipe(std::string_view text) const;
  // To a file, which is there as a whole or not at all; "-" is standard output. Throws
  // Error(failed).
  void print_to(const std::string& path, std::string_view text) const;
  // Remarks: to standard error, a line each.
  void notice(std::string_view text) const;

  bool shows_progress() const;          // standard error is a terminal, and not quiet
  bool color_on(int descriptor) const;  // it is a terminal and colour is not forbidden
  std::string bold(std::string_view text, int descriptor) const;
  std::string colored(std::string_view text, Color color, int descriptor) const;
};

}  // namespace filereel
