#include "traces/mysql/clients.h"

#include <algorithm>

namespace filereel {
namespace {

// Time of the processors, ns, for a row that is looked at by a scan, and by a scan that searches
// words in each.
constexpr std::uint64_t kScannedRow = 150, kSearchedRow = 400;

// Redo log of a row that is inserted, updated, removed, with its undo and its purge;
// of the same in the index of document numbers. Measured with one kind of statement only.
constexpr std::uint64_t kInsertRedo = 238, kUpdateRedo = 287, kRemoveRedo = 270;
constexpr std::uint64_t kCommitRedo = 60;  // of the transaction
constexpr std::uint64_t kAddDocumentRedo = 60, kRemoveDocumentRedo = 60;
constexpr std::uint64_t kInsertUndo = 30, kUpdateUndo = 90, kRemoveUndo = 70;

// Of the binary log: events of a transaction around the statement's text, and the event that tells
// an INSERT's id. Texts without the status: see docs/mysql-mix.md.
constexpr std::uint64_t kLogEvents = 138, kIdEvent = 32;
constexpr std::uint64_t kInsertText = 61, kUpdateText = 53, kSearchText = 77;
constexpr std::uint64_t kDeleteText = 31, kDeleteRangeText = 46;

constexpr std::uint64_t kDeletedRange = 10;  // ids of a DELETE by range

constexpr double kMostMean = 200;  // rows that a search finds, for what portable_exp can take

}  // namespace

Clients::Clients(const MysqlMixOptions& options, ServerCalls& calls, PageCache& cache,
                 UndoLog& undo, BinaryLog& binlog, ItemTable& table, FulltextIndex* fulltext)
    : options_(options),
      calls_(calls),
      cache_(cache),
      undo_(undo),
      binlog_(binlog),
      table_(table),
      fulltext_(fulltext),
      random_(mix_seed(options.seed, 1)),
      first_rows_(table.rows()),
      words_per_row_(FulltextIndex::words_of(options.row_bytes)),
      unlocked_(calls.simulation()) {}

void Clients::start(std::uint64_t transactions) {
  left_ = transactions;
  commits_ = 0;
  working_ = options_.connections;
  for (std::uint32_t i = 0; i < options_.connections; ++i) {
    calls_.simulation().start(connection(i));
  }
}

Part Clients::connection(std::uint32_t thread) {
  while (left_ > 0) {
    --left_;
    const std::uint64_t cpu = options_.timing.statement;
    // Many are quick and some have to wait long for a processor.
    co_await calls_.simulation().sleep(
        static_cast<std::uint64_t>(-portable_log(random_.uniform()) * static_cast<double>(cpu)));
    co_await perform(thread, choose());
  }
  --working_;
}

Statement Clients::choose() {
  std::uint64_t draw = random_.below(MysqlMixOptions::kAllShares);
  std::size_t i = 0;
  while (draw >= options_.shares[i]) draw -= options_.shares[i++];
  return static_cast<Statement>(i);
}

Part Clients::perform(std::uint32_t thread, Statement statement) {
  switch (statement) {
    case Statement::insert:
      return insert(thread);
    case Statement::update_key:
      return update_key(thread);
    case Statement::update_text:
      return update_text(thread);
    case Statement::delete_key:
      return remove(thread, some_row(), 1, kDeleteText);
    case Statement::delete_range:
      return remove(thread, some_row(), kDeletedRange, kDeleteRangeText);
    case Statement::select_key:
      return cache_.get(thread, table_.row_page(some_row()));
    case Statement::select_text:
      return select_text(thread);
    case Statement::select_scan:
      break;
  }
  return scan(thread, kScannedRow);
}

Part Clients::insert(std::uint32_t thread) {
  co_await lock_rows(false);
  Transaction transaction;
  const ItemTable::Added row = table_.add_row();
  if (row.fresh) {
    co_await cache_.create(thread, row.page, kInsertRedo);
  } else {
    co_await cache_.change(thread, row.page, kInsertRedo);
  }
  transaction.pages.push_back(row.page);
  transaction.undo = kInsertUndo;
  co_await add_document(thread, transaction);
  co_await commit(thread, transaction, kIdEvent + kInsertText + options_.row_bytes);
  unlock_rows(false);
}

Part Clients::update_key(std::uint32_t thread) {
  const std::uint64_t id = some_row();
  if (!table_.exists(id)) {
    co_await cache_.get(thread, table_.row_page(id));
    co_return;
  }
  co_await lock_rows(false);
  Transaction transaction;
  co_await update_row(thread, id, transaction);
  co_await commit(thread, transaction, kUpdateText + options_.row_bytes);
  unlock_rows(false);
}

// The server looks at every row for this, and locks each.
Part Clients::update_text(std::uint32_t thread) {
  co_await lock_rows(true);
  if (fulltext_) co_await fulltext_->search(thread);
  co_await scan(thread, kSearchedRow);
  Transaction transaction;
  for (std::uint64_t left = rows_with_word(); left > 0; --left) {
    const std::uint64_t id = some_row();
    if (table_.exists(id)) co_await update_row(thread, id, transaction);
  }
  if (!transaction.pages.empty()) {
    co_await commit(thread, transaction, kSearchText + options_.row_bytes);
  }
  unlock_rows(true);
}

Part Clients::remove(std::uint32_t thread, std::uint64_t first, std::uint64_t count,
                     std::uint64_t text) {
  co_await lock_rows(false);
  Transaction transaction;
  const std::uint64_t end = std::min(first + count, table_.rows() + 1);
  for (std::uint64_t id = first; id < end; ++id) {
    if (!table_.exists(id)) {
      co_await cache_.get(thread, table_.row_page(id));
      continue;
    }
    table_.remove(id);
    co_await remove_row(thread, id, transaction);
  }
  if (!transaction.pages.empty()) co_await commit(thread, transaction, text);
  unlock_rows(false);
}

Part Clients::select_text(std::uint32_t thread) {
  if (!fulltext_) {
    co_await scan(thread, kSearchedRow);
    co_return;
  }
  co_await fulltext_->search(thread);
  for (std::uint64_t left = rows_with_word(); left > 0; --left) {
    co_await cache_.get(thread, table_.document_page(random_));
    co_await cache_.get(thread, table_.row_page(some_row()));
  }
}

// All leaves in their order; behind the last page of an extent that was not used before, the next
// one is read ahead.
Part Clients::scan(std::uint32_t thread, std::uint64_t row_ns) {
  const std::uint64_t page_ns = row_ns * table_.rows() / table_.row_leaves();
  const std::uint32_t leaves = table_.row_leaves();
  for (std::uint32_t i = 0; i < leaves; ++i) {
    const PageId page = table_.row_leaf(i);
    const bool border = i % kExtent == kExtent - 1 && i + 1 < leaves;
    const bool first_use = border && !cache_.was_used(page);
    if (!cache_.hit(page)) co_await cache_.get(thread, page);
    if (first_use) {
      cache_.read_ahead(thread, table_.row_leaf(i + 1), std::min(kExtent, leaves - i - 1));
    }
    co_await calls_.simulation().sleep(page_ns);
  }
}

Part Clients::remove_document(std::uint32_t thread, Transaction& transaction) {
  const PageId document = table_.document_page(random_);
  co_await cache_.change(thread, document, kRemoveDocumentRedo);
  transaction.pages.push_back(document);
  ++transaction.removed;
}

Part Clients::update_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction) {
  const PageId page = table_.row_page(id);
  co_await cache_.change(thread, page, kUpdateRedo);
  transaction.pages.push_back(page);
  transaction.undo += kUpdateUndo;
  if (!fulltext_) co_return;
  co_await remove_document(thread, transaction);
  co_await add_document(thread, transaction);
}

Part Clients::remove_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction) {
  const PageId page = table_.row_page(id);
  co_await cache_.change(thread, page, kRemoveRedo);
  transaction.pages.push_back(page);
  transaction.undo += kRemoveUndo;
  if (fulltext_) co_await remove_document(thread, transaction);
}

Part Clients::add_document(std::uint32_t thread, Transaction& transaction) {
  if (!fulltext_) co_return;
  const ItemTable::Added added = table_.add_document();
  if (added.fresh) {
    co_await cache_.create(thread, added.page, kAddDocumentRedo);
  } else {
    co_await cache_.change(thread, added.page, kAddDocumentRedo);
  }
  ++transaction.added;
}

// Prepared in the redo log, then in the binary log, then committed in the order of that.
Part Clients::commit(std::uint32_t thread, Transaction& transaction, std::uint64_t text_bytes) {
  co_await undo_.write(thread, transaction.undo);
  co_await flush_log(thread);
  co_await binlog_.commit(thread, kLogEvents + text_bytes, [this, &transaction](std::uint32_t by) {
    return commit_in_order(by, transaction);
  });
  // The binary log makes a commit durable, but a policy that trusts the system writes it as well.
  if (options_.flush_log_at_commit == 2) co_await flush_log(thread);
  undo_.committed(transaction.pages);
  ++commits_;
}

Part Clients::commit_in_order(std::uint32_t thread, const Transaction& transaction) {
  cache_.redo().append(kCommitRedo);
  if (!fulltext_) co_return;
  if (transaction.removed > 0) {
    co_await fulltext_->remove_documents(thread, transaction.removed, table_.documents());
    co_await flush_log(thread);
  }
  if (transaction.added > 0) fulltext_->add_documents(transaction.added);
}

Part Clients::flush_log(std::uint32_t thread) {
  if (options_.flush_log_at_commit == 0) co_return;
  RedoLog& redo = cache_.redo();
  co_await redo.write_up_to(thread, redo.end(), options_.flush_log_at_commit == 1);
}

Part Clients::lock_rows(bool all) {
  while (all_locked_ || (all && writers_ > 0)) co_await unlocked_.wait();
  if (all) {
    all_locked_ = true;
  } else {
    ++writers_;
  }
}

void Clients::unlock_rows(bool all) {
  if (all) {
    all_locked_ = false;
  } else {
    --writers_;
  }
  unlocked_.raise();
}

// How many rows have a word of which nothing else is known (Poisson, by Knuth's product).
std::uint64_t Clients::rows_with_word() {
  const double mean = static_cast<double>(table_.rows() * words_per_row_) /
                      static_cast<double>(FulltextIndex::kVocabulary);
  if (mean > kMostMean) return static_cast<std::uint64_t>(mean);
  const double limit = portable_exp(-mean);
  std::uint64_t count = 0;
  double product = random_.uniform();
  while (product > limit) {
    ++count;
    product *= random_.uniform();
  }
  return count;
}

}  // namespace filereel
