// Reading and writing `.fileset` files: the format of docs/fileset-format.md, which holds
// everything that a FileSet holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

inline constexpr int kFileSetFormatVersion = 1;

// Limits of the format; files beyond them are neither written nor read.
inline constexpr std::uint64_t kMaxFileSetText = 2ull << 30;   // bytes, unpacked
inline constexpr std::size_t kMaxFileSetLine = 64u << 10;      // bytes, without the newline
inline constexpr std::uint64_t kMaxFileSetItems = 16'000'000;  // entries and holes together

struct FileSetHeader {
  std::string name;
  std::string description;
  std::string source;
  std::uint64_t seed = 0;
};

// Writes entry after entry in bounded memory. The file appears under its name in finish(), whole; a
// writer that is destroyed without it leaves nothing behind.
class FileSetWriter {
 public:
  // Throws Error(failed) if the file cannot be created.
  FileSetWriter(const std::string& path, const FileSetHeader& header);
  ~FileSetWriter();
  FileSetWriter(const FileSetWriter&) = delete;
  FileSetWriter& operator=(const FileSetWriter&) = delete;

  // Entries come in creation order (see FileSet). Throws Error(unusable_input) for an entry that
  // the format cannot hold, Error(failed) if writing fails.
  void add(const Entry& entry);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes a whole set.
void write_fileset_file(const FileSet& set, const std::string& path);

// Reads a file in bounded memory beside the set itself. Throws Error(failed) if it cannot be opened
// or read; Error(unusable_input) as parse_fileset does.
FileSet read_fileset_file(const std::string& path);

// Reads the bytes of such a file; `name` stands for it in messages. The set satisfies
// check_file_set. Throws Error(unusable_input), naming the line and the byte offset in the unpacked
// text (or in the packed bytes where unpacking fails), if the file is torn, damaged, of another
// version or beyond the limits.
FileSet parse_fileset(std::span<const std::byte> bytes, std::string_view name);

}  // namespace filereel
