// Entries of a file set: directories, files and links, and the list of millions of them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "filesets/system/name_store.h"

namespace filereel {

// --- A directory, file or link of a file set, and how the content of a file is generated.

inline constexpr std::size_t kMaxComponent = 255;  // bytes: NAME_MAX of every Linux file system

enum class EntryKind : std::uint8_t { directory, file, symlink, hard_link };

// Bytes [offset, offset + length) of a file that are not allocated and read as zeros.
struct Hole {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Hole&) const = default;
};

// How the bytes of a file are generated. Together with the set's seed it determines every byte.
struct Content {
  std::uint64_t key = 0;  // files of one set with equal key and shares start with the same bytes
  // Compressed size (zstd level 1) in thousandths of the original size; 1000: incompressible.
  std::uint16_t compressed_permille = 1000;
  // Thousandths of the file's 64 KiB chunks that also occur elsewhere in the set.
  std::uint16_t duplicate_permille = 0;
  bool operator==(const Content&) const = default;
};

// What determines the bytes of a file, besides the set's seed.
struct FileContent {
  std::uint64_t size = 0;  // bytes
  Content content;
  std::span<const Hole> holes;
};

struct Entry {
  static constexpr std::int64_t kNoTime = INT64_MIN;

  std::string path;  // bytes, relative to the set's root, '/' between components; see check_path
  EntryKind kind = EntryKind::file;
  std::uint32_t mode = 0644;        // permission bits, 0 to 07777
  std::uint64_t size = 0;           // bytes; files only
  std::int64_t mtime_ns = kNoTime;  // since 1970-01-01 UTC, or kNoTime: not set
  Content content;                  // files only
  std::string target;               // symlink: its text; hard link: path of an earlier file entry
  std::vector<Hole> holes;          // files only; ascending, disjoint, non-empty, within the file

  FileContent data() const { return {size, content, holes}; }
};

// A directory entry, by default writable for its owner.
inline Entry directory_entry(std::string path, std::uint32_t mode = 0755) {
  Entry entry;
  entry.path = std::move(path);
  entry.kind = EntryKind::directory;
  entry.mode = mode;
  return entry;
}

// --- The entries of a file set in about 60 bytes each, for sets of millions of files.
//
// An entry is stored as the number of its directory and its own name, because whole paths would be
// most of the memory: with a million directories, a path has 80 bytes on average. `Entry` is the
// form in which single entries are passed around; access by number or iterator creates one. Loops
// over many entries use the functions for single members, which allocate nothing.
//
// Copies of a list share their entries until one of them changes, because a job, its fitted form
// and the trees before and after it mostly have the same ones.

class EntryList {
 public:
  // The directory of entries in the root, and of those whose directory is not listed before them.
  static constexpr std::uint32_t kNoDirectory = NumberIndex::kNone;

  class Iterator;
  using iterator = Iterator;
  using const_iterator = Iterator;
  using value_type = Entry;

  EntryList() = default;
  EntryList(std::initializer_list<Entry> entries) : EntryList(std::span(entries)) {}
  explicit EntryList(std::span<const Entry> entries);

  std::size_t size() const { return data_ ? data_->records.size() : 0; }
  bool empty() const { return size() == 0; }
  void reserve(std::size_t entries) { own().records.reserve(entries); }
  void clear() { data_.reset(); }

  // Any path is accepted and kept; check_file_set judges it. A list has fewer than 2^32 entries.
  void push_back(const Entry& entry);
  // Adds an entry below a directory of the list, or in the root; `entry.path` is ignored. Returns
  // its number.
  std::uint32_t add_below(std::uint32_t directory, std::string_view name, const Entry& entry);
  // Adds all entries of another list below a directory of this one.
  void add_tree(std::uint32_t directory, const EntryList& tree);
  // Replaces an entry, but not its path and kind.
  void replace(std::size_t number, const Entry& entry);
  void add_hole(std::size_t number, const Hole& hole);
  void set_size(std::size_t number, std::uint64_t size) { own().records[number].size = size; }
  void set_key(std::size_t number, std::uint64_t key) { own().records[number].key = key; }
  // Calls `change(Entry&)` and replaces the entry by the result.
  template <class Change>
  void change(std::size_t number, Change change) {
    Entry entry = (*this)[number];
    change(entry);
    replace(number, entry);
  }

  Entry operator[](std::size_t number) const;
  Entry without_path(std::size_t number) const;
  Entry front() const { return (*this)[0]; }
  Entry back() const { return (*this)[size() - 1]; }
  Iterator begin() const;
  Iterator end() const;

  // Single members. Views are valid until the list changes.
  std::string path(std::size_t number) const;
  std::uint32_t directory(std::size_t number) const { return record(number).directory; }
  // The last component, followed by a null byte. The whole path if the directory is not listed.
  std::string_view name(std::size_t number) const {
    return {record(number).name, record(number).name_length};
  }
  EntryKind kind(std::size_t number) const { return record(number).kind; }
  std::uint32_t mode(std::size_t number) const { return record(number).mode; }
  bool has_times() const { return data_ && !data_->times.empty(); }  // of any entry
  std::uint64_t file_size(std::size_t number) const { return record(number).size; }
  Content content(std::size_t number) const;
  FileContent data(std::size_t number) const {
    return {record(number).size, content(number), holes(number)};
  }
  std::string_view target(std::size_t number) const;
  std::span<const Hole> holes(std::size_t number) const;

  // The number of the directory with this path, or kNoDirectory if there is none.
  std::uint32_t find_directory(std::string_view path) const;

 private:
  // Rarely used members of an Entry are in `more` and `times` of Data.
  struct Record {
    const char* name;
    std::uint64_t size, key;
    std::uint32_t name_length, directory;
    std::uint16_t mode, compressed_permille, duplicate_permille;
    EntryKind kind;
    bool has_more;
  };
  struct More {
    std::string target;
    std::vector<Hole> holes;
  };

  struct Data {
    Data() = default;
    Data(const Data& other);
    Data& operator=(const Data&) = delete;
    ~Data() = default;

    std::vector<Record> records;
    NameStore names;
    std::unordered_map<std::uint32_t, More> more;  // by entry
    std::vector<std::int64_t> times;               // by entry; empty: no entry has one
    NumberIndex directories;                       // entries of that kind, by directory and name
    // The last directory found, and its number.
    std::pair<std::string, std::uint32_t> last_directory = {"", kNoDirectory};
  };

  const Record& record(std::size_t number) const { return data_->records[number]; }
  // The entries, shared with no other list.
  Data& own();
  void set_rest(std::size_t number, const Entry& entry);
  std::uint64_t hash_of(std::uint32_t number) const {
    return NumberIndex::hash(directory(number), name(number));
  }

  std::shared_ptr<Data> data_;  // null: no entries
};

class EntryList::Iterator {
 public:
  using value_type = Entry;
  using reference = Entry;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // as a reference is not a real one
  struct pointer {
    Entry entry;
    const Entry* operator->() const { return &entry; }
  };

  Iterator() = default;
  Iterator(const EntryList* list, std::size_t number) : list_(list), number_(number) {}

  Entry operator*() const { return (*list_)[number_]; }
  pointer operator->() const { return {**this}; }
  Entry operator[](difference_type steps) const { return *(*this + steps); }

  Iterator& operator+=(difference_type steps) {
    number_ += static_cast<std::size_t>(steps);
    return *this;
  }
  Iterator& operator-=(difference_type steps) { return *this += -steps; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this -= 1; }
  Iterator operator++(int) { return std::exchange(*this, *this + 1); }
  Iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend Iterator operator+(Iterator at, difference_type steps) { return at += steps; }
  friend Iterator operator+(difference_type steps, Iterator at) { return at += steps; }
  friend Iterator operator-(Iterator at, difference_type steps) { return at -= steps; }
  friend difference_type operator-(const Iterator& a, const Iterator& b) {
    return static_cast<difference_type>(a.number_ - b.number_);
  }
  auto operator<=>(const Iterator&) const = default;

 private:
  const EntryList* list_ = nullptr;
  std::size_t number_ = 0;
};

inline EntryList::Iterator EntryList::begin() const {
  return {this, 0};
}
inline EntryList::Iterator EntryList::end() const {
  return {this, size()};
}

// Removes the entries for which `unwanted(number)` holds. Returns their number.
template <class Unwanted>
std::size_t erase_entries(EntryList& entries, Unwanted unwanted) {
  std::size_t first = 0;
  while (first < entries.size() && !unwanted(first)) ++first;
  if (first == entries.size()) return 0;
  EntryList kept;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!unwanted(i)) kept.push_back(entries[i]);
  }
  const std::size_t removed = entries.size() - kept.size();
  entries = std::move(kept);
  return removed;
}

// Finds entries of any kind by their paths.
class EntryFinder {
 public:
  // `entries` outlives the finder and does not change. With `all`, every entry can be found;
  // otherwise those passed to add().
  explicit EntryFinder(const EntryList& entries, bool all = true);

  // Returns false if an entry with the same path was added before.
  bool add(std::uint32_t number);

  // The number of the entry, or NumberIndex::kNone.
  std::uint32_t find(std::string_view path) const;
  std::uint32_t find(std::uint32_t directory, std::string_view name) const;

 private:
  std::uint64_t hash_of(std::uint32_t number) const;

  const EntryList& entries_;
  NumberIndex index_;
};

}  // namespace filereel
