// The table: its rows, clustered by id, and the index of document numbers used by the full-text
// index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "filesets/system/random.h"
#include "traces/mysql/segment.h"

namespace filereel {

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

}  // namespace filereel
