// Dependencies between operations that use the same resource: bytes of a file, an open file, a
// name.
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
#include "traces/path_table.h"

namespace filereel {

// --- Orders reads and writes of the same bytes.

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

// --- Orders operations on an open file: open, then uses, then close. The same for mappings.

// Numbers are those after renaming. A reused number waits for its last close.
class OpenFileDependencies {
 public:
  struct OpenFile {
    LanePosition opened, closed;
    LanePositions uses;              // since the open
    PathId path = PathTable::kNone;  // path of the open
    FileId entry = kNoFileId;
    DataDependencies::File* data = nullptr;
    std::uint64_t offset = 0;  // of a mapping, in the file
    bool is_shared = false;    // of a mapping: writes reach the file
    bool locked = false;       // its close may release a lock
  };

  // `order` outlives the dependencies. Numbers are below `slots`.
  OpenFileDependencies(std::size_t slots, HappensBefore& order) : order_(order), files_(slots) {}

  OpenFile& open(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.closed);
    const LanePosition closed = file.closed;
    file = {};
    file.opened = now;
    file.closed = closed;
    return file;
  }

  OpenFile& use(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.opened);
    file.uses.add(now);
    return file;
  }

  OpenFile& close(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.opened);
    order_.need(file.uses);
    file.uses.clear();
    file.closed = now;
    return file;
  }

 private:
  HappensBefore& order_;
  std::vector<OpenFile> files_;
};

// --- Orders operations on names.

// Each operation on a path reads the names of all its parent directories, and reads or changes the
// last name. A change of a name waits for all uses of it, and of all names below it, since its last
// change. All later uses of the name wait for the change.
class NameDependencies {
 public:
  // Both outlive the dependencies.
  NameDependencies(const PathTable& paths, HappensBefore& order);

  // Adds the waits of `operation`, which completes at `now`. Returns true if it changes a name.
  bool add(const Operation& operation, LanePosition now);

  // An operation that only needs `path` to exist.
  void read(PathId path, LanePosition now);

 private:
  struct Name {
    PathId parent;
    PathId first_used = PathTable::kNone;  // list of the used names below
    PathId next_used = PathTable::kNone;
    bool used = false;          // in its parent's list
    bool exists = false;        // known to exist; false: unknown
    bool content_read = false;  // see contents_
    LanePosition change;        // the last change
    LanePositions readers;      // since the change
  };

  void change(PathId path, LanePosition now, bool exists);
  void read_content(PathId path, LanePosition now);
  bool open(const Operation& operation, LanePosition now);

  void need_ancestors(PathId path);
  void need_below(PathId path);
  void mark_used(PathId path);

  HappensBefore& order_;
  std::vector<Name> names_;
  // Operations that found a directory not empty: changes of the names below wait for them.
  std::unordered_map<PathId, LanePositions> contents_;
  std::vector<PathId> walk_;
};

}  // namespace filereel
