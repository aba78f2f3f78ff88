// The entries of a file set in about 60 bytes each, for sets of millions of files.
//
// An entry is stored as the number of its directory and its own name, because whole paths would be
// most of the memory: with a million directories, a path has 80 bytes on average. `Entry` is the
// form in which single entries are passed around; access by number or iterator creates one. Loops
// over many entries use the functions for single members, which allocate nothing.
//
// Copies of a list share their entries until one of them changes, because a job, its fitted form
// and the trees before and after it mostly have the same ones.
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

#include "filesets/entry.h"
#include "filesets/system/name_store.h"
#include "filesets/system/number_index.h"

namespace filereel {

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
