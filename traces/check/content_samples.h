// The first bytes of what a trace wrote, for a comparison with the real files. A reel has no
// content, but a wrong offset, a wrong file or a lost write shows in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>

#include "traces/recorded_operation.h"

namespace filereel {

class ContentSamples {
 public:
  static constexpr std::size_t kBytes = 32;      // of each write, at most
  static constexpr std::size_t kMost = 200'000;  // samples, of about 90 bytes each; the first ones

  struct Sample {
    std::uint8_t length = 0;  // bytes, at most kBytes
    std::uint32_t thread = 0;
    std::uint64_t hash = 0;    // of the bytes
    std::uint64_t end_ns = 0;  // of the write, since the start of the trace
  };

  using OfFile = std::map<std::uint64_t, Sample>;  // by offset

  // Call it with every operation, in order, after its `entry` has been set. Drops what the
  // operation overwrites, moves or may change unseen (shared memory maps). Where two threads wrote
  // at the same time, the content is unknown.
  void add(const RecordedOperation& recorded);

  // nullptr: nothing is known of the file.
  const OfFile* of(FileId file) const;

  static std::uint64_t hash(std::string_view bytes);

 private:
  struct File {
    bool is_mapped = false;  // shared: stores are unseen
    OfFile samples;
  };

  void replace(File& file, const RecordedOperation& recorded);
  // Removes the samples that overlap [begin, end). True if one of them was written by another
  // thread after `start_ns`.
  bool erase(File& file, std::uint64_t begin, std::uint64_t end, std::uint32_t thread,
             std::uint64_t start_ns);

  std::size_t count_ = 0;
  std::unordered_map<FileId, File> files_;
};

}  // namespace filereel
