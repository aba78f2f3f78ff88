#include "filesets/entries.h"

#include <algorithm>
#include <utility>

namespace filereel {

EntryList::EntryList(std::span<const Entry> entries) {
  reserve(entries.size());
  for (const Entry& entry : entries) push_back(entry);
}

EntryList::Data::Data(const Data& other)
    : records(other.records), more(other.more), times(other.times), directories(other.directories) {
  for (Record& record : records) record.name = names.add({record.name, record.name_length});
}

EntryList::Data& EntryList::own() {
  if (!data_) {
    data_ = std::make_shared<Data>();
  } else if (data_.use_count() > 1) {
    data_ = std::make_shared<Data>(std::as_const(*data_));
  }
  return *data_;
}

void EntryList::push_back(const Entry& entry) {
  const std::string_view path = entry.path;
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) {
    const std::string_view parent = path.substr(0, slash);
    // Adjacent entries mostly share their directory.
    auto& [last, number] = own().last_directory;
    if (number == kNoDirectory || last != parent) {
      number = find_directory(parent);
      last = parent;
    }
    if (number != kNoDirectory) {
      add_below(number, path.substr(slash + 1), entry);
      return;
    }
  }
  add_below(kNoDirectory, path, entry);
}

std::uint32_t EntryList::add_below(std::uint32_t directory, std::string_view name,
                                   const Entry& entry) {
  Data& data = own();
  const auto number = static_cast<std::uint32_t>(data.records.size());
  data.records.push_back({.name = data.names.add(name),
                          .size = 0,
                          .key = 0,
                          .name_length = static_cast<std::uint32_t>(name.size()),
                          .directory = directory,
                          .mode = 0,
                          .compressed_permille = 0,
                          .duplicate_permille = 0,
                          .kind = entry.kind,
                          .has_more = false});
  if (!data.times.empty()) data.times.push_back(Entry::kNoTime);
  set_rest(number, entry);
  if (entry.kind != EntryKind::directory) return number;
  const auto same = [&](std::uint32_t other) {
    return this->directory(other) == directory && this->name(other) == name;
  };
  if (data.directories.find(hash_of(number), same) == kNoDirectory) {
    data.directories.insert(number, [&](std::uint32_t one) { return hash_of(one); });
  }
  return number;
}

void EntryList::add_tree(std::uint32_t directory, const EntryList& tree) {
  const auto first = static_cast<std::uint32_t>(size());
  const std::string root = directory == kNoDirectory ? "" : path(directory) + "/";
  reserve(size() + tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::uint32_t parent = tree.directory(i);
    Entry entry = tree.without_path(i);
    if (entry.kind == EntryKind::hard_link) entry.target = root + entry.target;
    add_below(parent == kNoDirectory ? directory : first + parent, tree.name(i), entry);
  }
}

void EntryList::replace(std::size_t number, const Entry& entry) {
  if (record(number).has_more) own().more.erase(static_cast<std::uint32_t>(number));
  set_rest(number, entry);
}

void EntryList::add_hole(std::size_t number, const Hole& hole) {
  Data& data = own();
  data.records[number].has_more = true;
  data.more[static_cast<std::uint32_t>(number)].holes.push_back(hole);
}

void EntryList::set_rest(std::size_t number, const Entry& entry) {
  constexpr std::uint32_t kMostMode = UINT16_MAX;  // larger ones are invalid in any case
  Data& data = own();
  Record& record = data.records[number];
  record.size = entry.size;
  record.key = entry.content.key;
  record.mode = static_cast<std::uint16_t>(std::min(entry.mode, kMostMode));
  record.compressed_permille = entry.content.compressed_permille;
  record.duplicate_permille = entry.content.duplicate_permille;
  record.has_more = !entry.target.empty() || !entry.holes.empty();
  if (record.has_more) {
    data.more[static_cast<std::uint32_t>(number)] = {entry.target, entry.holes};
  }
  if (data.times.empty() && entry.mtime_ns != Entry::kNoTime) {
    data.times.assign(data.records.size(), Entry::kNoTime);
  }
  if (!data.times.empty()) data.times[number] = entry.mtime_ns;
}

Entry EntryList::without_path(std::size_t number) const {
  const Record& record = this->record(number);
  Entry entry;
  entry.kind = record.kind;
  entry.mode = record.mode;
  entry.size = record.size;
  if (!data_->times.empty()) entry.mtime_ns = data_->times[number];
  entry.content = content(number);
  if (record.has_more) {
    const More& more = data_->more.at(static_cast<std::uint32_t>(number));
    entry.target = more.target;
    entry.holes = more.holes;
  }
  return entry;
}

Entry EntryList::operator[](std::size_t number) const {
  Entry entry = without_path(number);
  entry.path = path(number);
  return entry;
}

std::string EntryList::path(std::size_t number) const {
  std::size_t length = record(number).name_length;
  for (std::uint32_t at = directory(number); at != kNoDirectory; at = directory(at)) {
    length += record(at).name_length + 1;
  }
  std::string path(length, '/');
  auto at = static_cast<std::uint32_t>(number);
  while (true) {
    const std::string_view component = name(at);
    length -= component.size();
    component.copy(path.data() + length, component.size());
    at = directory(at);
    if (at == kNoDirectory) return path;
    --length;  // the slash
  }
}

Content EntryList::content(std::size_t number) const {
  const Record& record = this->record(number);
  return {record.key, record.compressed_permille, record.duplicate_permille};
}

std::string_view EntryList::target(std::size_t number) const {
  if (!record(number).has_more) return {};
  return data_->more.at(static_cast<std::uint32_t>(number)).target;
}

std::span<const Hole> EntryList::holes(std::size_t number) const {
  if (!record(number).has_more) return {};
  return data_->more.at(static_cast<std::uint32_t>(number)).holes;
}

std::uint32_t EntryList::find_directory(std::string_view path) const {
  std::uint32_t at = kNoDirectory;
  while (data_) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    const auto is = [&](std::uint32_t other) {
      return directory(other) == at && name(other) == component;
    };
    at = data_->directories.find(NumberIndex::hash(at, component), is);
    if (at == kNoDirectory || slash == std::string_view::npos) return at;
    path.remove_prefix(slash + 1);
  }
  return kNoDirectory;
}

EntryFinder::EntryFinder(const EntryList& entries, bool all) : entries_(entries) {
  index_.reserve(entries.size(), [&](std::uint32_t number) { return hash_of(number); });
  for (std::uint32_t i = 0; all && i < entries.size(); ++i) add(i);
}

bool EntryFinder::add(std::uint32_t number) {
  if (find(entries_.directory(number), entries_.name(number)) != NumberIndex::kNone) return false;
  index_.insert(number, [&](std::uint32_t one) { return hash_of(one); });
  return true;
}

std::uint32_t EntryFinder::find(std::string_view path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return find(EntryList::kNoDirectory, path);
  const std::uint32_t directory = entries_.find_directory(path.substr(0, slash));
  if (directory == EntryList::kNoDirectory) return NumberIndex::kNone;
  return find(directory, path.substr(slash + 1));
}

std::uint32_t EntryFinder::find(std::uint32_t directory, std::string_view name) const {
  return index_.find(NumberIndex::hash(directory, name), [&](std::uint32_t other) {
    return entries_.directory(other) == directory && entries_.name(other) == name;
  });
}

std::uint64_t EntryFinder::hash_of(std::uint32_t number) const {
  return NumberIndex::hash(entries_.directory(number), entries_.name(number));
}

}  // namespace filereel
