// A file that says: filereel works here. It is locked while it does, and a later run that finds it
// unlocked knows that it may clear what an earlier, killed run left.
#pragma once

#include <cstddef>
#include <string>

#include "filesets/descriptor.h"

namespace filereel {

class Lease {
 public:
  // Makes or takes over the file `path` for the volume `name`. Throws Error(failed) when another
  // process holds it or it cannot be made.
  Lease(std::string path, const std::string& name);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();  // removes the file unless keep() was called

  bool found() const { return found_; }  // it was there before: left by a killed or a kept run

  // What was noted in the file when it was found, and what to note from now on: a line of at most
  // kMaxNote bytes. What was found stays until then. Noting throws Error(failed).
  static constexpr std::size_t kMaxNote = 16 << 20;
  const std::string& noted() const { return noted_; }
  void note(const std::string& line);

  void keep(bool keep = true) { keep_ = keep; }

 private:
  void open_file(const std::string& name);
  bool is_in_place() const;
  std::string second_line() const;

  std::string path_;
  Descriptor file_;
  std::string noted_;
  bool found_ = false;
  bool keep_ = false;
};

}  // namespace filereel
