#include "traces/mysql/item_table.h"

#include <algorithm>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kLeafRoom = 14'500;  // measured
// In addition to the status: header 7, id 4, transaction 6, roll pointer 7, document number 8, time
// 4, uid 4, and its share of the page's directory.
constexpr std::uint64_t kRowBytes = 40;
// Header 5, document number 8, id 4.
constexpr std::uint64_t kDocumentBytes = 17;

}  // namespace

ItemTable::ItemTable(std::uint64_t rows, std::uint64_t row_bytes, bool fulltext)
    : row_pages_(space_),
      document_pages_(space_),
      rows_per_page_(kLeafRoom / (kRowBytes + row_bytes)),
      fulltext_(fulltext) {
  removed_.push_back(true);  // ids begin with 1
  for (std::uint64_t i = 0; i < rows; ++i) {
    add_row();
    if (fulltext_) add_document();
  }
}

std::uint64_t ItemTable::file_size() const {
  const std::uint64_t bytes = (space_.pages() + kExtent) * kPage;
  return (bytes + 4 * kMiB - 1) / (4 * kMiB) * (4 * kMiB);
}

ItemTable::Added ItemTable::add_row() {
  const bool fresh = rows_ % rows_per_page_ == 0;
  if (fresh) row_pages_.grow();
  removed_.push_back(false);
  return {++rows_, row_pages_.page(row_pages_.pages() - 1), fresh};
}

ItemTable::Added ItemTable::add_document() {
  const bool fresh = documents_ % (kLeafRoom / kDocumentBytes) == 0;
  if (fresh) document_pages_.grow();
  return {++documents_, document_pages_.page(document_pages_.pages() - 1), fresh};
}

}  // namespace filereel
