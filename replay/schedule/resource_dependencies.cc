// The problem. To order reads and writes of the same bytes, one would keep, for each byte, the last
// writes and the reads since. Traces have millions of accesses, but nearly all files are used by
// one lane, or are only read. So a file has the cheapest of three forms that is sufficient, and
// changes to the next one once, never back:
// - Hull: one lane has used it. Program order is enough, so one range of reads and one of writes is
//   kept, with the last moment of each.
// - hulls of several lanes: nobody has written. No read waits, but a later write needs them all.
// - pieces: ranges that do not overlap, with their last writers and the readers since then.
//
// Pieces are made from hulls by cut_up(). The earlier accesses of a lane then count as one access
// to their whole range at its last moment. That is more than happened, which is the direction that
// all approximations here take: a piece may stand for more bytes, or later moments, than were used.
// Then an operation waits for more than necessary. The opposite would lose an order.
//
// The number of pieces is bounded, for each file and for all. limit() first drops pieces whose
// accesses the replay has completed (drop_done), then merges neighbours, including the gap between
// them. It is called at twice the number that it left, so its cost is a constant for each new
// piece.
#include "replay/schedule/resource_dependencies.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>

#include "traces/open_flags.h"

namespace filereel {
namespace {

constexpr std::size_t kPiecesOfFile = 4096;
constexpr std::size_t kFirstLook = 256;  // pieces of a file before the first clean-up
constexpr std::size_t kPiecesOfAll = 128 * 1024;

}  // namespace

struct DataDependencies::Piece {
  std::uint64_t end;
  LanePositions writers;
  LanePositions readers;  // since then
};

struct DataDependencies::Shared {
  explicit Shared(std::pmr::memory_resource* memory) : pieces(memory) {}

  std::vector<Hull> hulls;  // by lane, while there is no writer
  bool cut = false;         // in pieces
  Pieces pieces;            // not overlapping
  std::size_t look_at = kFirstLook;
  LanePositions writers;  // each lane's last write
};

DataDependencies::DataDependencies(HappensBefore& order) : order_(order), limit_at_(kPiecesOfAll) {}
DataDependencies::~DataDependencies() = default;

DataDependencies::File& DataDependencies::file(FileId id) {
  return files_[id];
}

void DataDependencies::Hull::add(ByteRange range, bool writes, LanePosition now) {
  ByteRange& hull = writes ? written : read;
  hull.begin = std::min(hull.begin, range.begin);
  hull.end = std::max(hull.end, range.end);
  (writes ? last_write : last_read) = now;
}

void DataDependencies::need_writes(const File& file) {
  if (file.shared_) {
    order_.need(file.shared_->writers);
  } else {
    order_.need(file.only_.last_write);
  }
}

void DataDependencies::use(File& file, ByteRange range, bool writes, LanePosition now) {
  if (range.empty()) return;
  if (!file.shared_) {
    Hull& only = file.only_;
    if (only.lane == UINT32_MAX) only.lane = now.lane();
    if (only.lane == now.lane()) {
      only.add(range, writes, now);
      return;
    }
    share(file);
  }
  Shared& shared = *file.shared_;
  if (writes) shared.writers.add(now);
  if (!shared.cut) {
    if (!writes) {
      auto mine = std::ranges::find(shared.hulls, now.lane(), &Hull::lane);
      if (mine == shared.hulls.end()) {
        mine = shared.hulls.insert(mine, Hull());
        mine->lane = now.lane();
      }
      mine->add(range, false, now);
      return;
    }
    cut_up(shared);
  }
  if (writes) {
    write_pieces(shared, range, now);
  } else {
    read_pieces(shared, range, now);
  }
  if (shared.pieces.size() > shared.look_at) limit(shared);
  if (pieces_ > limit_at_) limit_all();
}

void DataDependencies::share(File& file) {
  file.shared_ = std::make_unique<Shared>(&memory_);
  Shared& shared = *file.shared_;
  shared.hulls.push_back(file.only_);
  const LanePosition written = file.only_.last_write;
  if (written.is_beginning()) return;
  shared.writers.add(written);
  cut_up(shared);
}

void DataDependencies::cut_up(Shared& shared) {
  shared.cut = true;
  cut_.push_back(&shared);
  // There is at most one writer, and program order covers its own reads.
  for (const Hull& hull : shared.hulls) {
    if (!hull.written.empty()) overlay(shared, hull.written, true, hull.last_write);
  }
  for (const Hull& hull : shared.hulls) {
    if (!hull.read.empty()) overlay(shared, hull.read, false, hull.last_read);
  }
  shared.hulls = {};
}

void DataDependencies::read_pieces(Shared& shared, ByteRange range, LanePosition now) {
  Pieces& pieces = shared.pieces;
  auto at = pieces.upper_bound(range.begin);
  if (at != pieces.begin() && std::prev(at)->second.end > range.begin) --at;
  for (auto each = at; each != pieces.end() && each->first < range.end; ++each) {
    order_.need(each->second.writers);
  }
  // Common case: exactly one existing piece.
  if (at != pieces.end() && at->first == range.begin && at->second.end == range.end) {
    at->second.readers.add(now);
    return;
  }
  overlay(shared, range, false, now);
}

void DataDependencies::write_pieces(Shared& shared, ByteRange range, LanePosition now) {
  Pieces& pieces = shared.pieces;
  auto at = pieces.upper_bound(range.begin);
  if (at != pieces.begin() && std::prev(at)->second.end > range.begin) --at;
  for (auto each = at; each != pieces.end() && each->first < range.end; ++each) {
    order_.need(each->second.writers);
    order_.need(each->second.readers);
  }
  if (at != pieces.end() && at->first == range.begin && at->second.end == range.end) {
    at->second.writers.clear();
    at->second.writers.add(now);
    at->second.readers.clear();
    return;
  }
  overlay(shared, range, true, now);
}

// Records a read or write of `range`. A write turns it into a single piece.
void DataDependencies::overlay(Shared& shared, ByteRange range, bool writes, LanePosition moment) {
  Pieces& pieces = shared.pieces;
  const std::size_t before = pieces.size();
  const auto end = split(pieces, range.end);
  auto at = split(pieces, range.begin);
  if (writes) {
    at = pieces.erase(at, end);
    at = pieces.emplace_hint(at, range.begin, Piece{range.end, {}, {}});
    at->second.writers.add(moment);
  } else {
    std::uint64_t next = range.begin;  // the first byte not yet in a piece
    while (next < range.end) {
      if (at == end || at->first > next) {
        const std::uint64_t until = at == end ? range.end : at->first;
        at = pieces.emplace_hint(at, next, Piece{until, {}, {}});
      }
      at->second.readers.add(moment);
      next = at->second.end;
      ++at;
    }
  }
  pieces_ += pieces.size() - before;  // modulo 2^64
}

// Returns the first piece at or after `at`; splits a piece that crosses it.
DataDependencies::Pieces::iterator DataDependencies::split(Pieces& pieces, std::uint64_t at) {
  const auto behind = pieces.lower_bound(at);
  if (behind == pieces.begin()) return behind;
  Piece& before = std::prev(behind)->second;
  if (before.end <= at) return behind;
  Piece upper(before);
  before.end = at;
  return pieces.emplace_hint(behind, at, std::move(upper));
}

void DataDependencies::limit(Shared& shared) {
  const std::size_t before = shared.pieces.size();
  drop_done(shared);
  while (shared.pieces.size() > kPiecesOfFile / 2) merge_neighbours(shared);
  shared.look_at = std::clamp(2 * shared.pieces.size(), kFirstLook, kPiecesOfFile);
  pieces_ -= before - shared.pieces.size();
}

void DataDependencies::drop_done(Shared& shared) {
  const auto done = [this](LanePosition moment) { return order_.is_done(moment); };
  std::erase_if(shared.pieces, [&](const auto& entry) {
    return entry.second.writers.all(done) && entry.second.readers.all(done);
  });
}

void DataDependencies::merge_neighbours(Shared& shared) {
  for (auto at = shared.pieces.begin(); at != shared.pieces.end(); ++at) {
    const auto second = std::next(at);
    if (second == shared.pieces.end()) break;
    at->second.end = second->second.end;
    at->second.writers.add(second->second.writers);
    at->second.readers.add(second->second.readers);
    shared.pieces.erase(second);
  }
}

void DataDependencies::limit_all() {
  for (Shared* shared : cut_) drop_done(*shared);
  const auto count = [this] {
    std::size_t sum = 0;
    for (const Shared* shared : cut_) sum += shared->pieces.size();
    return sum;
  };
  pieces_ = count();
  // Down to one piece per file, if necessary.
  for (std::size_t before = 0; pieces_ > kPiecesOfAll / 2 && pieces_ != before;) {
    before = pieces_;
    for (Shared* shared : cut_) merge_neighbours(*shared);
    pieces_ = count();
  }
  limit_at_ = std::max(kPiecesOfAll, 2 * pieces_);
}

// The problem. An operation on /a/b/c reads the names a and b and uses c. A rename or removal of /a
// must wait for all that was done below it. Entering each operation as a reader of all names of its
// path would provide for that, at the expense of all operations, although directories are rarely
// renamed.
//
// So an operation is recorded at its last name only. It asks the directories above for their last
// change (need_ancestors), and a change of a name asks everything used below it (need_below). For
// this, the used names of a directory are linked in a list, up to the root (mark_used). After the
// change, what was done below is represented by the change itself: the names below are reset and
// taken out of the lists. So each use is visited once, however many directories are renamed above
// it, and an operation costs the depth of its path.
//
// Invariants:
// - A name with a change or readers is in the list of its parent, and so are all its parents.
//   Otherwise a change above would not find it.
// - A PathId is a name, not a file. A rename is a change of two names: uses of the old name precede
//   it, uses of the new one follow.
// - `exists` is a conclusion from results: opens with O_CREAT of a name that exists are reads. Else
//   all opens of a log file would be changes and wait for each other. A change above clears it.
// - contents_ has operations that found a directory not empty. Later changes of names in it wait
//   for them, so that it is not emptied before.

NameDependencies::NameDependencies(const PathTable& paths, HappensBefore& order) : order_(order) {
  names_.reserve(paths.size());
  for (PathId id = 0; id < paths.size(); ++id) {
    names_.emplace_back();
    names_.back().parent = paths.node(id).parent;
  }
}

bool NameDependencies::add(const Operation& op, LanePosition now) {
  const bool succeeded = op.expected >= 0;
  switch (op.kind) {
    case OperationKind::open:
      return open(op, now);
    case OperationKind::make_directory:
    case OperationKind::symlink:
    case OperationKind::make_node:
      if (!succeeded) break;
      change(op.path, now, true);
      return true;
    case OperationKind::link:
      if (op.file == kNoFile) read(op.old_path, now);
      if (!succeeded) break;
      change(op.path, now, true);
      return true;
    case OperationKind::unlink:
      if (!succeeded) break;
      change(op.path, now, false);
      return true;
    case OperationKind::remove_directory:
      if (succeeded) {
        change(op.path, now, false);
        return true;
      }
      if (op.expected == -ENOTEMPTY || op.expected == -EEXIST) read_content(op.path, now);
      break;
    case OperationKind::rename:
      if (succeeded) {
        change(op.old_path, now, (op.flags & RENAME_EXCHANGE) != 0);
        change(op.path, now, true);
        return true;
      }
      if (op.expected == -ENOTEMPTY || op.expected == -EEXIST) read_content(op.path, now);
      read(op.old_path, now);
      break;
    default: {
      const Field fields = operation_info(op.kind).fields;
      if (!has(fields, Field::path) && !(has(fields, Field::target) && op.file == kNoFile)) {
        return false;
      }
      break;
    }
  }
  read(op.path, now);
  if (succeeded) names_[op.path].exists = true;
  return false;
}

// With O_CREAT it creates the name, unless the name is known to exist.
bool NameDependencies::open(const Operation& op, LanePosition now) {
  const bool succeeded = op.expected >= 0;
  const bool may_create =
      (op.flags & O_CREAT) != 0 && (op.flags & open_flags::kTemporary) != open_flags::kTemporary;
  const bool already_existed = names_[op.path].exists && (op.flags & O_EXCL) == 0;
  if (succeeded && may_create && !already_existed) {
    change(op.path, now, true);
    return true;
  }
  read(op.path, now);
  if (succeeded) names_[op.path].exists = true;
  return false;
}

void NameDependencies::read(PathId path, LanePosition now) {
  need_ancestors(path);
  mark_used(path);
  Name& name = names_[path];
  order_.need(name.change);
  name.readers.add(now);
}

void NameDependencies::change(PathId path, LanePosition now, bool exists) {
  need_ancestors(path);
  mark_used(path);
  need_below(path);
  Name& name = names_[path];
  order_.need(name.change);
  order_.need(name.readers);
  if (names_[name.parent].content_read) order_.need(contents_[name.parent]);
  name.change = now;
  name.readers.clear();
  name.exists = exists;
}

void NameDependencies::read_content(PathId path, LanePosition now) {
  for (PathId below = names_[path].first_used; below != PathTable::kNone;
       below = names_[below].next_used) {
    order_.need(names_[below].change);
  }
  names_[path].content_read = true;
  contents_[path].add(now);
}

void NameDependencies::need_ancestors(PathId path) {
  for (PathId at = path, up = names_[at].parent; up != at; at = up, up = names_[at].parent) {
    order_.need(names_[up].change);
  }
}

// Afterwards, the change of `path` represents everything done below it.
void NameDependencies::need_below(PathId path) {
  walk_.assign(1, path);
  while (!walk_.empty()) {
    Name& directory = names_[walk_.back()];
    walk_.pop_back();
    PathId below = std::exchange(directory.first_used, PathTable::kNone);
    while (below != PathTable::kNone) {
      Name& name = names_[below];
      order_.need(name.change);
      order_.need(name.readers);
      name.change = {};
      name.readers.clear();
      name.used = name.exists = false;
      walk_.push_back(below);
      below = std::exchange(name.next_used, PathTable::kNone);
    }
    if (directory.content_read) {
      directory.content_read = false;
      order_.need(contents_[static_cast<PathId>(&directory - names_.data())]);
      contents_.erase(static_cast<PathId>(&directory - names_.data()));
    }
  }
}

// All used names are linked to the root, so that a walk finds them.
void NameDependencies::mark_used(PathId path) {
  while (!names_[path].used) {
    Name& name = names_[path];
    if (name.parent == path) return;
    name.used = true;
    name.next_used = std::exchange(names_[name.parent].first_used, path);
    path = name.parent;
  }
}

}  // namespace filereel
