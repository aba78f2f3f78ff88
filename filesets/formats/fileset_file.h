// How this folder works: each file reads (and some write) file sets in one format: `.fileset` here,
// with the writer in fileset_file.cc, and the lists of FC-Test 1.0 in fc_test_files.h. Start with
// docs/fileset-format.md, then the declarations below.
//
// Reads and writes `.fileset` files, which store a complete FileSet. Format:
// docs/fileset-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include <xxhash.h>

#include "filesets/file_set.h"

namespace filereel {

// Incremental XXH3 hash.
class RunningHash {
 public:
  RunningHash() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }

  void add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }

  // Of all bytes so far.
  std::uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

inline constexpr int kFileSetFormatVersion = 1;

// Limits of the format, for both reading and writing.
inline constexpr std::uint64_t kMaxFileSetText = 8ull << 30;   // bytes, uncompressed
inline constexpr std::size_t kMaxFileSetLine = 64u << 10;      // bytes, without the newline
inline constexpr std::uint64_t kMaxFileSetItems = 32'000'000;  // entries and holes together

struct FileSetHeader {
  std::string name;
  std::string description;
  std::string source;
  std::uint64_t seed = 0;
};

// Writes entries one by one in bounded memory. finish() creates the file atomically. A writer
// destroyed before finish() leaves nothing behind.
class FileSetWriter {
 public:
  // Throws Error(failed) if the file cannot be created.
  FileSetWriter(const std::string& path, const FileSetHeader& header);
  ~FileSetWriter();
  FileSetWriter(const FileSetWriter&) = delete;
  FileSetWriter& operator=(const FileSetWriter&) = delete;

  // Entries must be in creation order (see FileSet). Throws Error(unusable_input) for an entry that
  // the format does not support, Error(failed) if writing fails.
  void add(const Entry& entry);
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes a whole set.
void write_fileset_file(const FileSet& set, const std::string& path);

// Reads a file; memory is bounded apart from the set itself. Throws Error(failed) if the file
// cannot be opened or read, and like parse_fileset.
FileSet read_fileset_file(const std::string& path);

// Parses the bytes of a file; `name` is its name in messages. The set satisfies check_file_set.
// Throws Error(unusable_input) if the file is truncated, corrupt, of another version or exceeds the
// limits. The text names the line and the byte offset in the uncompressed text, or in the
// compressed bytes if decompression fails.
FileSet parse_fileset(std::span<const std::byte> bytes, std::string_view name);

}  // namespace filereel
