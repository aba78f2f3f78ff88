// The item table of the simulated server, its indexes and its undo log.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "filesets/system/random.h"
#include "traces/mysql/buffer_pool.h"
#include "traces/mysql/page_cache.h"

namespace filereel {

// --- The pages of a table space that belong to an index: whole extents, in the order in which the
// indexes of the file needed them.

inline constexpr std::uint32_t kExtent = 64;  // pages

class TableSpace {
 public:
  explicit TableSpace(ServerFile file) : file_(file) {}
  ServerFile file() const { return file_; }
  std::uint32_t take_extent() { return kExtent * extents_++; }
  std::uint32_t pages() const { return kExtent * extents_; }

 private:
  ServerFile file_;
  std::uint32_t extents_ = 1;  // the first holds the headers
};

class Segment {
 public:
  explicit Segment(TableSpace& space) : space_(&space) {}

  std::uint32_t pages() const { return pages_; }
  // Adds a page.
  void grow() {
    if (pages_++ % kExtent == 0) extents_.push_back(space_->take_extent());
  }
  // Returns page `number`, which must exist.
  PageId page(std::uint32_t number) const {
    return {space_->file(), extents_[number / kExtent] + number % kExtent};
  }

 private:
  TableSpace* space_;
  std::vector<std::uint32_t> extents_;
  std::uint32_t pages_ = 0;
};

// Undo logs, written first by every change, and the purge of those no longer needed, which revisits
// the pages changed by a transaction.
class UndoLog {
 public:
  UndoLog(ServerCalls& calls, ServerThreads threads, PageCache& cache);
  void start();

  // Writes the undo records of one transaction.
  Part write(std::uint32_t thread, std::uint64_t bytes);
  // The transaction changed these pages, and the purge will revisit them.
  void committed(std::span<const PageId> pages);

  // Nothing is purged while a transaction reads an old state.
  void hold() { ++holders_; }
  void release();

 private:
  Part purge();

  static constexpr std::size_t kSegments = 128;
  struct UndoSegment {
    std::uint32_t page = 0;
    std::uint64_t bytes = 0;
  };

  ServerCalls& calls_;
  ServerThreads threads_;
  PageCache& cache_;
  std::array<UndoSegment, kSegments> segments_;
  std::size_t next_segment_ = 0;
  std::uint32_t next_page_ = 0;
  std::deque<PageId> history_;
  std::uint32_t holders_ = 0;
  Signal work_;
};

// The table: its rows, clustered by id, and the index of document numbers used by the full-text
// index.
class ItemTable {
 public:
  ItemTable(std::uint64_t rows, std::uint64_t row_bytes, bool fulltext);

  // Size of the file after the load, in bytes.
  std::uint64_t file_size() const;

  std::uint64_t rows() const { return rows_; }  // ids are 1 to this
  bool exists(std::uint64_t id) const { return !removed_[id]; }
  void remove(std::uint64_t id) { removed_[id] = true; }
  // Number of existing rows; reads all ids.
  std::uint64_t existing() const {
    return static_cast<std::uint64_t>(std::ranges::count(removed_, false));
  }

  // The leaf of a row, by its number in the order of ids.
  std::uint32_t leaf_of(std::uint64_t id) const {
    return static_cast<std::uint32_t>((id - 1) / rows_per_page_);
  }
  PageId row_page(std::uint64_t id) const { return row_leaf(leaf_of(id)); }
  std::uint32_t row_leaves() const { return row_pages_.pages(); }
  PageId row_leaf(std::uint32_t number) const { return row_pages_.page(number); }

  // All leaves of both indexes.
  void visit_leaves(const auto& visit) const {
    for (std::uint32_t i = 0; i < row_pages_.pages(); ++i) visit(row_pages_.page(i));
    for (std::uint32_t i = 0; i < document_pages_.pages(); ++i) visit(document_pages_.page(i));
  }

  // The leaf with some row's document number. The mapping is not kept, because updates assign new
  // numbers.
  PageId document_page(Random& random) const {
    return document_pages_.page(static_cast<std::uint32_t>(random.below(document_pages_.pages())));
  }

  // The leaf for a new row or document number, and whether this leaf is new.
  struct Added {
    std::uint64_t number;
    PageId page;
    bool fresh;
  };
  Added add_row();
  Added add_document();
  std::uint64_t documents() const { return documents_; }

 private:
  TableSpace space_{ServerFile::table};
  Segment row_pages_, document_pages_;
  std::uint64_t rows_per_page_;
  std::uint64_t rows_ = 0, documents_ = 0;
  std::vector<bool> removed_;  // by id
  bool fulltext_;
};

// The leaves of a B-tree with keys in any order: the leaf of each key, and splits. Only sizes are
// kept, not records.
class KeyTree {
 public:
  static constexpr std::uint32_t kRoom = kPage - 250;  // bytes of records in a leaf

  explicit KeyTree(TableSpace& space) : segment_(space) {}

  // Starts with `leaves` leaves over keys below `keys`, filled to `fill` bytes on average. The
  // order in the file is that of growth by splits: each doubling puts new leaves after the old
  // ones.
  void begin_with(std::uint32_t leaves, std::uint64_t keys, std::uint32_t fill);

  struct Found {
    PageId page;
    bool split = false;
    PageId added{};  // the new leaf, if it was split
  };
  Found find(std::uint64_t key) const;
  Found insert(std::uint64_t key, std::uint32_t bytes);
  std::uint32_t leaves() const { return segment_.pages(); }
  // Page `number` in the order of the file.
  PageId page(std::uint32_t number) const { return segment_.page(number); }

 private:
  struct Leaf {
    std::uint32_t number;  // of its page in the segment
    std::uint32_t bytes;
  };
  Segment segment_;
  std::map<std::uint64_t, Leaf> leaves_;  // by their lowest keys
  std::uint64_t end_ = 0;                 // all keys so far are below it
};

// The full-text index: words of new documents are gathered in memory and written to auxiliary
// tables from time to time. Another table lists removed documents.
class FulltextIndex {
 public:
  // Number of different words; all words of a status are uniformly drawn from these.
  static constexpr std::uint64_t kVocabulary = 100'000;
  // Letters of a word and the following blank.
  static constexpr std::uint64_t kWordBytes = 8;
  // Number of words in a status of this size.
  static constexpr std::uint64_t words_of(std::uint64_t row_bytes) {
    return (row_bytes + 1) / kWordBytes;
  }

  FulltextIndex(ServerCalls& calls, ServerThreads threads, PageCache& cache, UndoLog& undo,
                std::uint64_t rows, std::uint64_t words_per_row, std::uint64_t word_ns,
                std::uint64_t seed);
  void start();

  // Adds documents with the same words, in memory.
  void add_documents(std::uint64_t count);
  // Removes a document: adds a row to the table of removed ones, in a separate transaction.
  Part remove_documents(std::uint32_t thread, std::uint64_t count, std::uint64_t documents);
  // Reads of a search for a word before it knows the documents.
  Part search(std::uint32_t thread);

 private:
  // A word by its file and its key there. The low bits of the key are free.
  struct Word {
    std::size_t file;
    std::uint64_t key;
  };

  Word draw_word();
  Part run();
  Part write_words();
  Part write_word(std::size_t file, std::uint64_t key);

  struct WordTable {
    std::unique_ptr<TableSpace> space;
    std::unique_ptr<KeyTree> tree;
    std::set<std::uint64_t> waiting;  // keys of words in memory only
  };

  ServerCalls& calls_;
  ServerThreads threads_;
  PageCache& cache_;
  UndoLog& undo_;
  Random random_;
  std::uint64_t words_per_row_;
  std::uint64_t word_ns_;  // CPU time per written word
  std::array<WordTable, kWordFiles> words_;
  TableSpace deleted_space_{ServerFile::deleted};
  KeyTree deleted_{deleted_space_};
  std::uint64_t words_seen_ = 0;
  std::uint64_t cached_ = 0;  // bytes in memory
  Signal full_;
};

}  // namespace filereel
