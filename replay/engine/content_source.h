// The bytes that writes write and that reads should find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filesets/content/content.h"
#include "traces/operation.h"
#include "traces/trace_info.h"

namespace filereel {

// In a workload the entries of its file set say what is in a file; in a recorded trace, which knows
// no content, it follows from the file's number. Not shared between threads.
class ContentSource {
 public:
  // `files` outlives the source; null for recorded traces.
  explicit ContentSource(const FileSet* files) : files_(files) {
    recorded_.content.compressed_permille = kTraceCompressedPermille;
  }

  void fill(FileId file, std::uint64_t offset, std::span<std::byte> out) noexcept {
    if (const Entry* entry = entry_of(file)) {
      fill_entry(seed(), *entry, offset, out);
    }
  }

  // The first position in `data`, read at `offset`, that is not what fill() makes; data.size() if
  // there is none.
  std::size_t first_difference(FileId file, std::uint64_t offset,
                               std::span<const std::byte> data) noexcept {
    const Entry* entry = entry_of(file);
    return entry ? filereel::first_difference(seed(), *entry, offset, data) : data.size();
  }

 private:
  std::uint64_t seed() const { return files_ ? files_->seed : 0; }
  const Entry* entry_of(FileId file) noexcept {
    if (files_) return file < files_->entries.size() ? &files_->entries[file] : nullptr;
    recorded_.content.key = file;
    return &recorded_;
  }

  const FileSet* files_;
  Entry recorded_;
};

}  // namespace filereel
