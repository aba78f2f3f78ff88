#include "traces/reel/name_blocks.h"

#include <algorithm>

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

}  // namespace filereel
