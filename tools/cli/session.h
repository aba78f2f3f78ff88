// State shared by all commands: output, its style, and the exit code.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// Terminal colour codes.
enum class Color : int { red = 31, green = 32 };

// Text for people may contain untrusted names and labels, so all of it is made printable here. Only
// bold() and colored() can send escape sequences to the terminal.
class Session {
 public:
  static constexpr int kInterrupted = 130;
  static constexpr int kRegression = 4;
  static constexpr int kUndecided = 5;

  bool quiet = false;     // neither progress nor notices
  bool no_color = false;  // NO_COLOR in the environment has the same effect
  int exit_code = 0;

  Session();

  // Prints results for people to standard output. Throws Error(failed) if writing fails.
  void print(std::string_view text) const;
  // Writes results for programs to standard output, unchanged unless it is a terminal. Throws
  // Error(failed).
  void write(std::string_view text) const;
  // The same for long output; returns false if the reader closed the pipe, which is not an error.
  bool pipe(std::string_view text) const;
  // Like write(), but to a file, which is created atomically; "-" is standard output.
  void print_to(const std::string& path, std::string_view text) const;

  // These write to standard error and never throw. They return false if writing failed. notice()
  // and print_aside() print nothing if quiet.
  bool notice(std::string_view line) const;  // without the newline
  // A notice that quiet does not suppress: an output is not where the user expects it.
  bool warn(std::string_view line) const;
  // Results for people, of several lines, while standard output carries data for programs.
  bool print_aside(std::string_view text) const;
  // Replaces the cursor's line with `text`.
  bool draw(std::string_view text) const;

  bool shows_progress() const;          // standard error is a terminal, and not quiet
  bool color_on(int descriptor) const;  // it is a terminal and colour is not forbidden
  std::string bold(std::string_view text, int descriptor) const;
  std::string colored(std::string_view text, Color color, int descriptor) const;

 private:
  std::string styled(std::string_view text, int code, int descriptor) const;
  std::string shown(std::string_view text) const;

  // Placeholder for the escape byte of bold() and colored() until printing. It is random, so that
  // no text from outside can contain it.
  std::string style_;
};

}  // namespace filereel
