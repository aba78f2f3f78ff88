// The first bytes of what a trace wrote, for a comparison with the real files. A reel has no
// content, but a wrong offset, a wrong file or a lost write shows in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/recorded_operation.h"

namespace filereel {

class ContentSamples {
 public:
  static constexpr std::size_t kBytes = RecordedOperation::kMostData;  // of each write, at most
  static constexpr std::size_t kMost = 200'000;  // samples, of about 90 bytes each; the first ones

  struct Sample {
    std::uint8_t length = 0;  // bytes, at most kBytes
    std::uint64_t hash = 0;   // of the bytes
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
  struct Write {
    std::uint64_t begin, end;
    std::uint32_t thread;
    std::uint64_t end_ns;
  };
  struct File {
    bool is_mapped = false;  // shared: stores are unseen
    OfFile samples;
    std::vector<Write> recent;  // whose end no later start is known to follow
  };

  void replace(File& file, const RecordedOperation& recorded);
  // Removes the samples that overlap [begin, end).
  void erase(File& file, std::uint64_t begin, std::uint64_t end);
  // Adds a write. Whether another thread wrote to its range at the same time.
  static bool is_ambiguous(File& file, const Write& write, std::uint64_t start_ns);

  std::size_t count_ = 0;
  std::unordered_map<FileId, File> files_;
};

}  // namespace filereel
