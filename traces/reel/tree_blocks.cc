#include "traces/reel/tree_blocks.h"

#include <algorithm>
#include <climits>

#include "traces/reel/column.h"
#include "traces/reel/reel_format.h"

namespace filereel {
namespace {

// Strings as the length of the prefix shared with the previous one, and the rest, terminated by
// NUL.
void put_strings(std::string& out, std::span<const std::string_view> strings, Packer& packer) {
  std::vector<std::uint64_t> shared;
  shared.reserve(strings.size());
  std::string rests;
  std::string_view before;
  for (const std::string_view string : strings) {
    const auto [end, unused] = std::ranges::mismatch(before, string);
    const auto same = static_cast<std::size_t>(end - before.begin());
    shared.push_back(same);
    rests += string.substr(same);
    rests += '\0';
    before = string;
  }
  put_column(out, shared, ColumnNature::positive, packer);
  packer.put_packed(out, rests);
}

}  // namespace

const char* name_problem(std::string_view name) {
  if (name.empty()) return "a name is empty";
  if (name.size() > kMaxNameSize) return "a name is longer than 255 bytes";
  if (name == "." || name == "..") return "a name is '.' or '..'";
  if (name.find('/') != std::string_view::npos) return "a name contains a slash";
  if (name.find('\0') != std::string_view::npos) return "a name contains NUL";
  return nullptr;
}

bool PathLengths::add(PathId parent, std::size_t name) {
  const std::size_t length = lengths_[parent] + 1 + name;
  if (length > kMaxTextSize) return false;
  lengths_.push_back(static_cast<std::uint16_t>(length));
  return true;
}

std::string put_paths(std::span<const PathDefinition> definitions, PathId first, Packer& packer) {
  std::vector<std::uint64_t> parents;
  std::vector<std::string_view> names;
  PathId parent_before = 0;
  PathId own = first;
  for (const PathDefinition& definition : definitions) {
    parents.push_back(definition.parent == parent_before ? 0
                                                         : std::uint64_t{own} - definition.parent);
    names.push_back(definition.name);
    parent_before = definition.parent;
    ++own;
  }
  std::string out;
  put_column(out, parents, ColumnNature::positive, packer);
  put_strings(out, names, packer);
  return out;
}

std::string put_texts(std::span<const std::string_view> texts, Packer& packer) {
  std::string out;
  put_strings(out, texts, packer);
  return out;
}

class NameReader::Strings {
 public:
  Strings(ByteReader& in, std::size_t count, Unpacker& unpacker) : shared_(count) {
    take_whole_column(in, shared_, unpacker);
    rests_ = unpacker.take_packed(in, kMaxBlockSize);
    left_ = rests_;
    in.expect_end();
  }

  const std::string& next(std::size_t most) {
    const std::uint64_t same = shared_[at_++];
    if (same > string_.size()) throw Damage("the shared prefix of a name is too long");
    const std::size_t end = left_.find('\0');
    if (end == std::string_view::npos) throw Damage("there are fewer names than declared");
    if (same + end > most) throw Damage("a name or text is too long");
    string_.resize(same);
    string_ += left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return string_;
  }

  void expect_end() const {
    if (!left_.empty()) throw Damage("there are more names than declared");
  }

 private:
  std::vector<std::uint64_t> shared_;
  std::string rests_;
  std::string_view left_;
  std::string string_;
  std::size_t at_ = 0;
};

void NameReader::count_text(std::size_t bytes) {
  text_ += bytes;
  if (text_ > kMaxReelText) throw Damage("there are more than 256 MiB of names and texts");
}

void NameReader::take_paths(ByteReader in, std::uint32_t count) {
  PathTable& paths = tables_.paths;
  if (paths.size() + count > kMaxReelPaths) throw Damage("there are more than 8 million paths");
  std::vector<std::uint64_t> parents(count);
  take_whole_column(in, parents, unpacker_);
  Strings names(in, count, unpacker_);
  PathId parent = 0;
  for (const std::uint64_t code : parents) {
    const std::size_t own = paths.size();
    if (code > own) throw Damage("the parent of a path is undefined");
    if (code != 0) parent = static_cast<PathId>(own - code);
    const std::string& name = names.next(kMaxNameSize);
    if (const char* const problem = name_problem(name)) throw Damage(problem);
    if (!lengths_.add(parent, name.size())) throw Damage("a path is longer than 65535 bytes");
    count_text(name.size());
    paths.append(parent, name);
  }
  names.expect_end();
}

void NameReader::take_texts(ByteReader in, std::uint32_t count) {
  Strings texts(in, count, unpacker_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string& text = texts.next(kMaxTextSize);
    // An empty one costs memory, too.
    count_text(text.size() + 1);
    tables_.texts.append(text);
  }
  texts.expect_end();
}

namespace {

constexpr std::size_t kMaxHoles = 1u << 20;  // of one block

std::uint64_t as_number(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// The complete path; tables may contain longer ones than trees.
std::string path_text(const TraceTables& tables, std::uint64_t path) {
  if (path >= tables.paths.size()) throw Damage("the path of an entry is undefined");
  const auto id = static_cast<PathId>(path);
  std::size_t length = 0;
  for (PathId at = id; !tables.paths.is_root(at); at = tables.paths.node(at).parent) {
    length += tables.paths.node(at).name.size() + 1;
    if (length > PATH_MAX + 1) throw Damage("the path of an entry is too long");
  }
  return tables.paths.relative(id);
}

}  // namespace

PathId NameFinder::child(PathId parent, std::string_view name) {
  if (parent < tables_.paths.size()) {
    const PathId found = tables_.paths.find(parent, name);
    if (found != PathTable::kNone) return found;
  }
  const auto number = static_cast<PathId>(tables_.paths.size() + paths_.size());
  const auto [place, added] = paths_.try_emplace({parent, std::string(name)}, number);
  if (added) path_order_.push_back(&*place);
  return place->second;
}

PathId NameFinder::path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view directory =
      slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  if (directory != directory_) {  // neighbours usually share it
    PathId at = PathTable::root(Role::near);
    for (std::string_view rest = directory; !rest.empty();) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      at = child(at, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    directory_ = directory;
    directory_id_ = at;
  }
  return child(directory_.empty() ? PathTable::root(Role::near) : directory_id_,
               slash == std::string_view::npos ? path : path.substr(slash + 1));
}

TextId NameFinder::text(std::string_view text) {
  if (const auto found = tables_.texts.find(text)) return *found;
  const auto number = static_cast<TextId>(tables_.texts.size() + texts_.size());
  const auto [place, added] = texts_.try_emplace(std::string(text), number);
  if (added) text_order_.push_back(place->first);
  return place->second;
}

std::vector<PathDefinition> NameFinder::new_paths() const {
  std::vector<PathDefinition> definitions;
  for (const auto* path : path_order_) {
    definitions.push_back({path->first.first, path->first.second});
  }
  return definitions;
}

std::vector<std::string_view> NameFinder::new_texts() const {
  return text_order_;
}

std::string put_entries(const NumberedEntries& numbered, Packer& packer) {
  using Values = std::vector<std::uint64_t>;
  Values kinds, paths, modes, times, sizes, keys, compressed, duplicates, targets;
  Values hole_counts, gaps, lengths;
  std::uint64_t next_path = 0;
  std::uint64_t time = as_number(Entry::kNoTime);
  std::uint64_t next_key = 0;
  std::uint64_t next_text = 0;
  for (std::size_t i = 0; i < numbered.entries.size(); ++i) {
    const Entry& entry = numbered.entries[i];
    const std::uint64_t path = numbered.paths[i];
    kinds.push_back(static_cast<std::uint64_t>(entry.kind));
    paths.push_back(path - next_path);
    next_path = path + 1;
    modes.push_back(entry.mode);
    times.push_back(as_number(entry.mtime_ns) - time);
    time = as_number(entry.mtime_ns);
    if (entry.kind == EntryKind::symlink) {
      targets.push_back(numbered.targets[i] - next_text);
      next_text = std::uint64_t{numbered.targets[i]} + 1;
    } else if (entry.kind == EntryKind::hard_link) {
      targets.push_back(numbered.targets[i] - path);
    } else if (entry.kind == EntryKind::file) {
      sizes.push_back(entry.size);
      keys.push_back(entry.content.key - next_key);
      next_key = entry.content.key + 1;
      compressed.push_back(entry.content.compressed_permille);
      duplicates.push_back(entry.content.duplicate_permille);
      hole_counts.push_back(entry.holes.size());
      std::uint64_t end = 0;
      for (const Hole& hole : entry.holes) {
        gaps.push_back(hole.offset - end);
        lengths.push_back(hole.length);
        end = hole.offset + hole.length;
      }
    }
  }
  std::string out;
  put_column(out, kinds, ColumnNature::positive, packer);
  put_column(out, paths, ColumnNature::difference, packer);
  put_column(out, modes, ColumnNature::positive, packer);
  put_column(out, times, ColumnNature::difference, packer);
  put_column(out, targets, ColumnNature::difference, packer);
  put_column(out, sizes, ColumnNature::positive, packer);
  put_column(out, keys, ColumnNature::difference, packer);
  put_column(out, compressed, ColumnNature::positive, packer);
  put_column(out, duplicates, ColumnNature::positive, packer);
  put_column(out, hole_counts, ColumnNature::positive, packer);
  put_column(out, gaps, ColumnNature::positive, packer);
  put_column(out, lengths, ColumnNature::positive, packer);
  return out;
}

namespace {

// The columns of a block of entries, read entry by entry.
class EntryColumns {
 public:
  EntryColumns(ByteReader in, std::uint32_t count, Unpacker& unpacker) {
    const auto take = [&](std::vector<std::uint64_t>& column, std::size_t size) {
      column.resize(size);
      take_whole_column(in, column, unpacker);
    };
    take(kinds_, count);
    std::size_t links = 0;
    std::size_t files = 0;
    for (const std::uint64_t kind : kinds_) {
      if (kind > static_cast<std::uint64_t>(EntryKind::hard_link)) {
        throw Damage("unknown kind of entry");
      }
      const auto is = static_cast<EntryKind>(kind);
      links += is == EntryKind::symlink || is == EntryKind::hard_link ? 1 : 0;
      files += is == EntryKind::file ? 1 : 0;
    }
    take(paths_, count);
    take(modes_, count);
    take(times_, count);
    take(targets_, links);
    take(sizes_, files);
    take(keys_, files);
    take(compressed_, files);
    take(duplicates_, files);
    take(hole_counts_, files);
    std::size_t holes = 0;
    for (const std::uint64_t number : hole_counts_) {
      if (number > kMaxHoles - holes) throw Damage("a block of entries has too many holes");
      holes += number;
    }
    take(gaps_, holes);
    take(lengths_, holes);
    in.expect_end();
  }

  Entry next(const TraceTables& tables) {
    Entry entry;
    entry.kind = static_cast<EntryKind>(kinds_[at_]);
    path_ += paths_[at_];
    const std::uint64_t own = path_++;
    entry.path = path_text(tables, own);
    entry.mode = narrow<std::uint32_t>(modes_[at_]);
    time_ += times_[at_];
    entry.mtime_ns = static_cast<std::int64_t>(time_);
    ++at_;
    if (entry.kind == EntryKind::symlink) {
      text_ += targets_[link_++];
      const std::uint64_t text = text_++;
      if (text >= tables.texts.size()) throw Damage("the text of a link is undefined");
      entry.target = tables.texts.text(static_cast<TextId>(text));
    } else if (entry.kind == EntryKind::hard_link) {
      entry.target = path_text(tables, own + targets_[link_++]);
    } else if (entry.kind == EntryKind::file) {
      take_file(entry);
    }
    return entry;
  }

 private:
  template <typename T>
  static T narrow(std::uint64_t value) {
    const auto narrowed = static_cast<T>(value);
    if (narrowed != value) throw Damage("a number of an entry is out of range");
    return narrowed;
  }

  void take_file(Entry& entry) {
    entry.size = sizes_[file_];
    key_ += keys_[file_];
    entry.content.key = key_++;
    entry.content.compressed_permille = narrow<std::uint16_t>(compressed_[file_]);
    entry.content.duplicate_permille = narrow<std::uint16_t>(duplicates_[file_]);
    std::uint64_t end = 0;
    for (std::uint64_t left = hole_counts_[file_]; left > 0; --left, ++hole_) {
      const std::uint64_t offset = end + gaps_[hole_];
      entry.holes.push_back({offset, lengths_[hole_]});
      end = offset + lengths_[hole_];
    }
    ++file_;
  }

  std::vector<std::uint64_t> kinds_, paths_, modes_, times_, targets_, sizes_, keys_, compressed_,
      duplicates_, hole_counts_, gaps_, lengths_;
  std::size_t at_ = 0, link_ = 0, file_ = 0, hole_ = 0;
  std::uint64_t path_ = 0, text_ = 0, key_ = 0;
  std::uint64_t time_ = as_number(Entry::kNoTime);
};

}  // namespace

void take_entries(ByteReader in, std::uint32_t count, const TraceTables& tables, Unpacker& unpacker,
                  std::uint64_t& text_left, FileSet& set) {
  EntryColumns columns(in, count, unpacker);
  if (set.entries.size() + count > tables.paths.size()) {
    throw Damage("a tree has more entries than there are paths");
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    Entry entry = columns.next(tables);
    const std::uint64_t bytes = entry.path.size() + entry.target.size();
    if (bytes > text_left) throw Damage("the total length of a tree's paths is too large");
    text_left -= bytes;
    set.entries.push_back(entry);
  }
}

}  // namespace filereel
