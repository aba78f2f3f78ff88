// Compares what a trace wrote with the content of the real file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/stat.h>

#include "filesets/entries.h"
#include "filesets/system/descriptor.h"
#include "traces/model/file_data.h"
#include "traces/recorded_trace.h"

namespace filereel {

// The first bytes of what a trace wrote, for a comparison with the real files. A reel has no
// content, but a wrong offset, a wrong file or a lost write shows in it.
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

// --- Compares where a file has holes with where a trace wrote.

struct HoleQuestion {
  int directory;
  std::string name;  // of a regular file in it
  const struct stat& real;
  bool made;                  // the trace created the file: its ranges are complete
  const DataRanges& written;  // what the trace wrote
};

// A regular file in the directory; only this user's, because reading others would change their time
// of access.
Descriptor open_for_check(int directory, const std::string& name);

// What differs, for a message; empty: nothing, or the file system does not report holes exactly
// (only those of ext4, xfs, btrfs and tmpfs are used). Files without holes are not opened.
std::string hole_difference(const HoleQuestion& question);

// Whether less is allocated than the size, for a regular file.
bool has_holes(const struct stat& status);

// The holes of a regular file in the directory; none if it cannot be read or its file system does
// not report them exactly.
std::vector<Hole> find_holes(int directory, const std::string& name);

struct ContentDifference {
  std::string text;          // for a message; empty: none
  std::uint64_t writes = 0;  // compared
  bool complete = true;      // false: not all were compared (time, permission, read error)
};

// Of a regular file in the directory, until `is_late`.
ContentDifference content_difference(int directory, const std::string& name,
                                     const ContentSamples::OfFile& samples,
                                     const std::function<bool()>& is_late);

}  // namespace filereel
