// Generates the bytes for writes and the expected bytes of reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "filesets/content/content.h"
#include "traces/operation.h"
#include "traces/trace_info.h"

namespace filereel {

// In a workload, the entries of the file set define the content of files. In a recorded trace,
// which has no content, it is derived from the file's number. Not shared between threads.
class ContentSource {
 public:
  // `files` outlives the source; null for recorded traces, whose content has this seed.
  explicit ContentSource(const FileSet* files, std::uint64_t recorded_seed)
      : files_(files), seed_(files ? files->seed : recorded_seed) {
    recorded_.content.compressed_permille = kTraceCompressedPermille;
  }

  void fill(FileId file, std::uint64_t offset, std::span<std::byte> out) noexcept {
    if (is_known(file)) fill_file(seed_, data_of(file), offset, out);
  }

  // The first position in `data`, read at `offset`, that differs from the output of fill();
  // data.size() if there is none.
  std::size_t first_difference(FileId file, std::uint64_t offset,
                               std::span<const std::byte> data) noexcept {
    if (!is_known(file)) return data.size();
    return filereel::first_difference(seed_, data_of(file), offset, data);
  }

 private:
  bool is_known(FileId file) const noexcept { return !files_ || file < files_->entries.size(); }

  FileContent data_of(FileId file) noexcept {
    if (files_) return files_->entries.data(file);
    recorded_.content.key = file;
    return recorded_;
  }

  const FileSet* files_;
  std::uint64_t seed_;
  FileContent recorded_;
};

}  // namespace filereel
