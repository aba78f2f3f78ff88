// Outputs that are no regular files: standard output and other descriptors of this process, pipes,
// terminals and other devices. They cannot be replaced, and what was sent stays sent.
#pragma once

#include <optional>
#include <string>

#include "filesets/system/descriptor.h"

namespace filereel {

// The descriptor of this process that an output names: 1 for "-", /dev/stdout and links to it, 3
// for /dev/fd/3 and /proc/self/fd/3.
std::optional<int> own_descriptor(const std::string& path);

// Whether an output is to be written as a stream, once, at the end: it names a descriptor, or
// something that exists and is neither a regular file nor a directory.
bool names_stream(const std::string& path);

// Opens it for writing; waits for the reader of a named pipe. Throws Error(failed).
Descriptor open_stream(const std::string& path);

// Collects the content of a stream, in an unnamed file, and sends it all at once.
class OutputStream {
 public:
  // Throws Error(failed) unless the stream can be written. A named pipe is not opened yet: its
  // reader would see its end if this object were only a check.
  explicit OutputStream(const std::string& path);

  int descriptor() const { return collected_.get(); }  // the file to write to

  // Sends what was written. On a terminal, control characters are escaped. Throws Error(failed).
  void send();

 private:
  std::string path_;
  Descriptor stream_;  // none for a named pipe
  Descriptor collected_;
};

}  // namespace filereel
