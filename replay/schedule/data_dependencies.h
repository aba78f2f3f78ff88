// Orders reads and writes of the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "replay/schedule/happens_before.h"
#include "traces/operation.h"

namespace filereel {

struct ByteRange {
  static constexpr std::uint64_t kEnd = UINT64_MAX;
  std::uint64_t begin = 0, end = 0;

  bool empty() const { return begin >= end; }
  static ByteRange whole() { return {0, kEnd}; }
  static ByteRange from(std::uint64_t offset) { return {offset, kEnd}; }
  static ByteRange of(std::uint64_t offset, std::uint64_t length) {
    return {offset, length > kEnd - offset ? kEnd : offset + length};
  }
};

// A read waits for overlapping writes, a write for overlapping reads and writes. Without a
// concurrent writer, the reads and writes of each lane are kept as one range per file; otherwise as
// pieces. The number of pieces is limited: excess pieces are merged, which adds waits that are not
// strictly necessary.
class DataDependencies {
 public:
  class File;

  // `order` outlives the dependencies.
  explicit DataDependencies(HappensBefore& order);
  ~DataDependencies();
  DataDependencies(const DataDependencies&) = delete;
  DataDependencies& operator=(const DataDependencies&) = delete;

  // The file's state; its address is stable.
  File& file(FileId id);

  void read(File& file, ByteRange range, LanePosition now) { use(file, range, false, now); }
  void write(File& file, ByteRange range, LanePosition now) { use(file, range, true, now); }
  // Waits for all writes so far.
  void need_writes(const File& file);

  std::size_t pieces() const { return pieces_; }  // of all files

 private:
  struct Hull;
  struct Piece;
  struct Shared;
  using Pieces = std::pmr::map<std::uint64_t, Piece>;  // by first byte

  void use(File& file, ByteRange range, bool writes, LanePosition now);
  void share(File& file);
  void cut_up(Shared& shared);
  void read_pieces(Shared& shared, ByteRange range, LanePosition now);
  void write_pieces(Shared& shared, ByteRange range, LanePosition now);
  void overlay(Shared& shared, ByteRange range, bool writes, LanePosition moment);
  Pieces::iterator split(Pieces& pieces, std::uint64_t at);
  void limit(Shared& shared);
  void drop_done(Shared& shared);
  void merge_neighbours(Shared& shared);
  void limit_all();

  HappensBefore& order_;
  std::pmr::unsynchronized_pool_resource memory_;
  std::unordered_map<FileId, File> files_;
  std::vector<Shared*> cut_;  // files kept as pieces
  std::size_t pieces_ = 0;
  std::size_t limit_at_;  // pieces of all files
};

// The reads and writes of one lane.
struct DataDependencies::Hull {
  std::uint32_t lane = UINT32_MAX;
  ByteRange read{UINT64_MAX, 0}, written{UINT64_MAX, 0};
  LanePosition last_read, last_write;

  void add(ByteRange range, bool writes, LanePosition now);
};

class DataDependencies::File {
 private:
  friend class DataDependencies;
  Hull only_;                       // while a single lane uses the file
  std::unique_ptr<Shared> shared_;  // once a second lane uses it
};

}  // namespace filereel
