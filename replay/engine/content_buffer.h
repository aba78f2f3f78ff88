// Buffers for reads and writes, and the content of writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include <stdlib.h>
#include <string.h>

#include "filesets/content/content.h"
#include "traces/operation.h"
#include "traces/operation_source.h"
#include "traces/recorded_trace.h"

namespace filereel {

// --- Memory for reads and writes.

// Page-aligned for direct I/O, and touched before the clock starts so that no page fault is
// measured.
class Buffer {
 public:
  explicit Buffer(std::size_t size)
      : size_(std::max<std::size_t>((size + kPage - 1) / kPage * kPage, kPage)),
        data_(static_cast<std::byte*>(aligned_alloc(kPage, size_))) {
    if (!data_) throw std::bad_alloc();
    memset(data_.get(), 1, size_);
  }

  std::size_t size() const { return size_; }
  std::byte* data() const { return data_.get(); }
  // Its first `length` bytes, or all if it is smaller.
  std::span<std::byte> first(std::uint64_t length) const {
    return {data_.get(), std::min<std::size_t>(size_, length)};
  }

 private:
  struct Free {
    void operator()(std::byte* data) const { free(data); }
  };
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

// --- Generates the bytes for writes and the expected bytes of reads.

// In a workload, the entries of the file set define the content of files. In a recorded trace,
// which has no content, it is derived from the file's number. Not shared between threads.
class ContentSource {
 public:
  // `files` outlives the source; null for recorded traces, whose content has this seed.
  // `holes`: of recorded traces, the holes of the files before; or null. It outlives the source.
  ContentSource(const FileSet* files, std::uint64_t recorded_seed,
                const HolesByFile* holes = nullptr)
      : files_(files), seed_(files ? files->seed : recorded_seed), holes_(holes) {
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
    std::size_t at = filereel::first_difference(seed_, data_of(file), offset, data);
    while (at < data.size() && holes_) {
      const std::size_t zeros = zeros_of_hole(file, offset + at, data.subspan(at));
      if (zeros == 0) break;
      at += zeros;
      at += filereel::first_difference(seed_, data_of(file), offset + at, data.subspan(at));
    }
    return at;
  }

 private:
  // The number of zeros at the start of `data` that come from a hole of the file: the trace may
  // have written to other parts of the hole.
  std::size_t zeros_of_hole(FileId file, std::uint64_t offset,
                            std::span<const std::byte> data) const noexcept {
    const auto found = holes_->find(file);
    if (found == holes_->end()) return 0;
    for (const Hole& hole : found->second) {
      if (offset < hole.offset || offset - hole.offset >= hole.length) continue;
      const std::uint64_t left = hole.offset + hole.length - offset;
      std::size_t zeros = 0;
      while (zeros < data.size() && zeros < left && data[zeros] == std::byte{0}) ++zeros;
      return zeros;
    }
    return 0;
  }

  bool is_known(FileId file) const noexcept { return !files_ || file < files_->entries.size(); }

  FileContent data_of(FileId file) noexcept {
    if (files_) return files_->entries.data(file);
    recorded_.content.key = file;
    return recorded_;
  }

  const FileSet* files_;
  std::uint64_t seed_;
  const HolesByFile* holes_;
  FileContent recorded_;
};

}  // namespace filereel
