// What all commands share: where they print, how, and what they return.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// As terminals name them.
enum class Color : int { red = 31, green = 32 };

// Text for people may hold names and labels from anywhere: it is made printable here, whatever made
// it. Only bold() and colored() can tell the terminal anything.
class Session {
 public:
  static constexpr int kInterrupted = 130;
  static constexpr int kRegression = 4;
  static constexpr int kUndecided = 5;

  bool quiet = false;     // neither progress nor notices
  bool no_color = false;  // also by the environment's NO_COLOR
  int exit_code = 0;

  Session();

  // Results for people: to standard output. Throws Error(failed) if it cannot be written.
  void print(std::string_view text) const;
  // Results for programs: as they are, unless standard output is a terminal, which is for people.
  // Throws Error(failed).
  void write(std::string_view text) const;
  // The same for output without end: false when whoever read it has gone, which is no error.
  bool pipe(std::string_view text) const;
  // As write(), to a file, which is there as a whole or not at all; "-" is standard output.
  void print_to(const std::string& path, std::string_view text) const;

  // Remarks go to standard error, unless quiet. They never throw, and are false where they are
  // lost.
  bool notice(std::string_view line) const;  // without its end
  // Where standard output is for a program: results for people, of several lines.
  bool print_aside(std::string_view text) const;
  // The line that the cursor is in, which becomes `text`.
  bool draw(std::string_view text) const;

  bool shows_progress() const;          // standard error is a terminal, and not quiet
  bool color_on(int descriptor) const;  // it is a terminal and colour is not forbidden
  std::string bold(std::string_view text, int descriptor) const;
  std::string colored(std::string_view text, Color color, int descriptor) const;

 private:
  std::string styled(std::string_view text, int code, int descriptor) const;
  std::string shown(std::string_view text) const;

  // Stands for the escape byte of bold() and colored() until it is printed. It is random, so that
  // no text from outside can hold it.
  std::string style_;
};

}  // namespace filereel
