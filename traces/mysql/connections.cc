#include "traces/mysql/connections.h"

#include <algorithm>
#include <utility>

namespace filereel {
namespace {

constexpr std::uint64_t kFirstByte = 330;  // headers at the start of every log

}  // namespace

BinaryLog::BinaryLog(ServerCalls& calls, std::uint32_t sync_every)
    : calls_(calls),
      sync_every_(sync_every),
      end_(kFirstByte),
      written_(calls.simulation()),
      committed_(calls.simulation()) {
  calls.set_size(ServerFile::binary_log, kFirstByte);
}

Part BinaryLog::commit(std::uint32_t thread, std::uint64_t bytes,
                       std::function<Part(std::uint32_t)> commit) {
  Participant mine{bytes, std::move(commit)};
  queue_.push_back(&mine);
  if (queue_.size() == 1) co_await lead(thread);
  while (!mine.done) co_await committed_.wait();
}

Part BinaryLog::lead(std::uint32_t thread) {
  while (writing_) co_await written_.wait();
  writing_ = true;
  const std::vector<Participant*> group = std::exchange(queue_, {});
  std::uint64_t bytes = 0;
  for (const Participant* participant : group) bytes += participant->bytes;
  co_await calls_.write(thread, ServerFile::binary_log, end_, bytes);
  end_ += bytes;
  if (sync_every_ != 0 && ++groups_ % sync_every_ == 0) {
    co_await calls_.sync(thread, ServerFile::binary_log);
  }
  // The next group may write as soon as this one may commit.
  while (committing_) co_await committed_.wait();
  committing_ = true;
  writing_ = false;
  written_.raise();
  for (Participant* one : group) {
    co_await one->commit(thread);
    one->done = true;
  }
  committing_ = false;
  committed_.raise();
}

namespace {

// CPU time in ns for a row in which a scan searches words.
constexpr std::uint64_t kSearchedRow = 400;

// Redo log of an inserted, updated and removed row, with its undo and purge; the same in the index
// of document numbers. Measured with one kind of statement only.
constexpr std::uint64_t kInsertRedo = 238, kUpdateRedo = 287, kRemoveRedo = 270;
constexpr std::uint64_t kCommitRedo = 60;  // of the transaction
constexpr std::uint64_t kAddDocumentRedo = 60, kRemoveDocumentRedo = 60;
constexpr std::uint64_t kInsertUndo = 30, kUpdateUndo = 90, kRemoveUndo = 70;

// Binary log: events of a transaction around the text of the statement, and the event with the id
// of an INSERT. Texts without the status: see docs/mysql-mix.md.
constexpr std::uint64_t kLogEvents = 138, kIdEvent = 32;
constexpr std::uint64_t kInsertText = 61, kUpdateText = 53, kSearchText = 77;
constexpr std::uint64_t kDeleteText = 31, kDeleteRangeText = 46;
constexpr std::uint64_t kLikeText = 65, kDeleteTimeText = 35;

constexpr std::uint64_t kDeletedRange = 10;  // ids of a DELETE by range

constexpr double kMostMean = 200;  // rows found by a search; limit of portable_exp

// Number of other words that contain four letters of a word at some position: words have seven
// letters, of 26.
constexpr double kWordsOfLetters = FulltextIndex::kVocabulary * 4.0 / (26.0 * 26 * 26 * 26);

// The share of new times above the integer of delete_time that keeps the size of the table
// constant: deletions by time remove the rows that inserts add and other statements do not remove.
// Rows get times by inserts and updates. 0 if other statements remove as many rows, or none is
// removed by time.
double late_share(const MysqlMixOptions& options, double rows_of_word) {
  const auto share = [&](Statement statement) {
    return static_cast<double>(options.shares[static_cast<std::size_t>(statement)]);
  };
  const double inserted = share(Statement::insert);
  const double left = inserted - share(Statement::delete_key) -
                      share(Statement::delete_range) * static_cast<double>(kDeletedRange);
  if (share(Statement::delete_time) == 0 || left <= 0) return 0;
  return left /
         (inserted + share(Statement::update_key) + share(Statement::update_text) * rows_of_word +
          share(Statement::update_like) * rows_of_word * (1 + kWordsOfLetters));
}

}  // namespace

Connections::Connections(const MysqlMixOptions& options, ServerCalls& calls, PageCache& cache,
                         UndoLog& undo, BinaryLog& binlog, ItemTable& table,
                         FulltextIndex* fulltext)
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
      unlocked_(calls.simulation()),
      late_share_(late_share(options, rows_of_word())) {}

void Connections::start(std::uint64_t transactions) {
  left_ = transactions;
  commits_ = 0;
  working_ = options_.connections;
  for (std::uint32_t i = 0; i < options_.connections; ++i) {
    calls_.simulation().start(connection(i));
  }
}

Part Connections::connection(std::uint32_t thread) {
  while (left_ > 0) {
    --left_;
    const std::uint64_t cpu = options_.timing.statement;
    // Most are fast, and some wait long for a CPU.
    co_await calls_.simulation().sleep(
        static_cast<std::uint64_t>(-portable_log(random_.uniform()) * static_cast<double>(cpu)));
    co_await perform(thread, choose());
  }
  --working_;
}

Statement Connections::choose() {
  std::uint64_t draw = random_.below(MysqlMixOptions::kAllShares);
  std::size_t i = 0;
  while (draw >= options_.shares[i]) draw -= options_.shares[i++];
  return static_cast<Statement>(i);
}

Part Connections::perform(std::uint32_t thread, Statement statement) {
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
    case Statement::update_like:
      return update_like(thread);
    case Statement::delete_time:
      return delete_time(thread);
    case Statement::select_scan:
    case Statement::select_time:
    case Statement::select_like:
    case Statement::select_uid:
      break;
  }
  return scan(thread, options_.timing.scanned_row);
}

Part Connections::insert(std::uint32_t thread) {
  co_await lock_row(kNewRow);
  Transaction transaction;
  const ItemTable::Added row = table_.add_row();
  if (row.fresh) {
    co_await cache_.create(thread, row.page, kInsertRedo);
  } else {
    co_await cache_.change(thread, row.page, kInsertRedo);
  }
  transaction.pages.push_back(row.page);
  transaction.undo = kInsertUndo;
  give_time(row.number);
  co_await add_document(thread, transaction);
  co_await commit(thread, transaction, kIdEvent + kInsertText + options_.row_bytes);
  unlock_row();
}

Part Connections::update_key(std::uint32_t thread) {
  const std::uint64_t id = some_row();
  if (!table_.exists(id)) {
    co_await cache_.get(thread, table_.row_page(id));
    co_return;
  }
  co_await lock_row(table_.leaf_of(id));
  Transaction transaction;
  co_await update_row(thread, id, transaction);
  co_await commit(thread, transaction, kUpdateText + options_.row_bytes);
  unlock_row();
}

// The server reads and locks every row for this.
Part Connections::update_text(std::uint32_t thread) {
  while (writers_ > 0 || front_ > 0) co_await unlocked_.wait();
  front_ = kAllRows;
  if (fulltext_) co_await fulltext_->search(thread);
  co_await scan(thread, kSearchedRow);
  Transaction transaction;
  for (std::uint64_t left = draw_count(rows_of_word()); left > 0; --left) {
    const std::uint64_t id = some_row();
    if (table_.exists(id)) co_await update_row(thread, id, transaction);
  }
  if (!transaction.pages.empty()) {
    co_await commit(thread, transaction, kSearchText + options_.row_bytes);
  }
  unlock_all_rows();
}

Part Connections::remove(std::uint32_t thread, std::uint64_t first, std::uint64_t count,
                         std::uint64_t text) {
  co_await lock_row(table_.leaf_of(first));
  Transaction transaction;
  const std::uint64_t end = std::min(first + count, table_.rows() + 1);
  for (std::uint64_t id = first; id < end; ++id) {
    if (!table_.exists(id)) {
      co_await cache_.get(thread, table_.row_page(id));
      continue;
    }
    co_await remove_row(thread, id, transaction);
  }
  if (!transaction.pages.empty()) co_await commit(thread, transaction, text);
  unlock_row();
}

Part Connections::select_text(std::uint32_t thread) {
  if (!fulltext_) {
    co_await scan(thread, kSearchedRow);
    co_return;
  }
  co_await fulltext_->search(thread);
  for (std::uint64_t left = draw_count(rows_of_word()); left > 0; --left) {
    co_await cache_.get(thread, table_.document_page(random_));
    co_await cache_.get(thread, table_.row_page(some_row()));
  }
}

// Reads all leaves in order.
Part Connections::scan(std::uint32_t thread, std::uint64_t row_ns) {
  const std::uint64_t page_ns = row_ns * table_.rows() / table_.row_leaves();
  const std::uint32_t leaves = table_.row_leaves();
  for (std::uint32_t i = 0; i < leaves; ++i) co_await scan_leaf(thread, i, leaves, page_ns);
}

// Reads one of the first `leaves` leaves. After the last page of a new extent, the next extent is
// read ahead.
Part Connections::scan_leaf(std::uint32_t thread, std::uint32_t number, std::uint32_t leaves,
                            std::uint64_t page_ns) {
  const PageId page = table_.row_leaf(number);
  const bool border = number % kExtent == kExtent - 1 && number + 1 < leaves;
  const bool first_use = border && !cache_.was_used(page);
  if (!cache_.hit(page)) co_await cache_.get(thread, page);
  if (first_use) {
    cache_.read_ahead(thread, table_.row_leaf(number + 1), std::min(kExtent, leaves - number - 1));
  }
  co_await calls_.simulation().sleep(page_ns);
}

Part Connections::update_like(std::uint32_t thread) {
  std::set<std::uint64_t> found;
  const auto words = static_cast<double>(1 + draw_count(kWordsOfLetters));
  for (std::uint64_t left = draw_count(words * rows_of_word()); left > 0; --left) {
    found.insert(some_row());
  }
  co_await change_by_scan(thread, found, &Connections::update_row, kLikeText + options_.row_bytes);
}

Part Connections::delete_time(std::uint32_t thread) {
  return change_by_scan(thread, late_rows_, &Connections::remove_row, kDeleteTimeText);
}

// Reads and locks every row, and changes those of `ids`, which are removed from it. Includes rows
// added meanwhile.
Part Connections::change_by_scan(std::uint32_t thread, std::set<std::uint64_t>& ids,
                                 ChangeRow change, std::uint64_t text_bytes) {
  while (front_ > 0) co_await unlocked_.wait();
  const std::uint64_t page_ns = options_.timing.locked_row * table_.rows() / table_.row_leaves();
  Transaction transaction;
  for (std::uint32_t i = 0; i < table_.row_leaves(); ++i) {
    front_ = i + 1;
    co_await scan_leaf(thread, i, table_.row_leaves(), page_ns);
    while (!ids.empty() && table_.leaf_of(*ids.begin()) <= i) {
      const std::uint64_t id = *ids.begin();
      ids.erase(ids.begin());
      if (table_.exists(id)) co_await (this->*change)(thread, id, transaction);
    }
  }
  front_ = kAllRows;
  if (!transaction.pages.empty()) co_await commit(thread, transaction, text_bytes);
  unlock_all_rows();
}

Part Connections::remove_document(std::uint32_t thread, Transaction& transaction) {
  const PageId document = table_.document_page(random_);
  co_await cache_.change(thread, document, kRemoveDocumentRedo);
  transaction.pages.push_back(document);
  ++transaction.removed;
}

Part Connections::update_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction) {
  const PageId page = table_.row_page(id);
  co_await cache_.change(thread, page, kUpdateRedo);
  transaction.pages.push_back(page);
  transaction.undo += kUpdateUndo;
  give_time(id);
  if (!fulltext_) co_return;
  co_await remove_document(thread, transaction);
  co_await add_document(thread, transaction);
}

Part Connections::remove_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction) {
  table_.remove(id);
  late_rows_.erase(id);
  const PageId page = table_.row_page(id);
  co_await cache_.change(thread, page, kRemoveRedo);
  transaction.pages.push_back(page);
  transaction.undo += kRemoveUndo;
  if (fulltext_) co_await remove_document(thread, transaction);
}

Part Connections::add_document(std::uint32_t thread, Transaction& transaction) {
  if (!fulltext_) co_return;
  const ItemTable::Added added = table_.add_document();
  if (added.fresh) {
    co_await cache_.create(thread, added.page, kAddDocumentRedo);
  } else {
    co_await cache_.change(thread, added.page, kAddDocumentRedo);
  }
  ++transaction.added;
}

// Prepares in the redo log, then in the binary log, then commits in the order of the binary log.
Part Connections::commit(std::uint32_t thread, Transaction& transaction, std::uint64_t text_bytes) {
  co_await undo_.write(thread, transaction.undo);
  co_await flush_log(thread);
  co_await binlog_.commit(thread, kLogEvents + text_bytes, [this, &transaction](std::uint32_t by) {
    return commit_in_order(by, transaction);
  });
  // The binary log makes a commit durable. A policy that trusts the system still writes the redo
  // log.
  if (options_.flush_log_at_commit == 2) co_await flush_log(thread);
  undo_.committed(transaction.pages);
  ++commits_;
}

Part Connections::commit_in_order(std::uint32_t thread, const Transaction& transaction) {
  cache_.redo().append(kCommitRedo);
  if (!fulltext_) co_return;
  if (transaction.removed > 0) {
    co_await fulltext_->remove_documents(thread, transaction.removed, table_.documents());
    co_await flush_log(thread);
  }
  if (transaction.added > 0) fulltext_->add_documents(transaction.added);
}

Part Connections::flush_log(std::uint32_t thread) {
  if (options_.flush_log_at_commit == 0) co_return;
  RedoLog& redo = cache_.redo();
  co_await redo.write_up_to(thread, redo.end(), options_.flush_log_at_commit == 1);
}

Part Connections::lock_row(std::uint32_t leaf) {
  while (leaf < front_) co_await unlocked_.wait();
  ++writers_;
}

void Connections::unlock_row() {
  --writers_;
  unlocked_.raise();
}

void Connections::unlock_all_rows() {
  front_ = 0;
  unlocked_.raise();
}

double Connections::rows_of_word() const {
  return static_cast<double>(table_.rows() * words_per_row_) /
         static_cast<double>(FulltextIndex::kVocabulary);
}

// Knuth's product method.
std::uint64_t Connections::draw_count(double mean) {
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

void Connections::give_time(std::uint64_t id) {
  if (late_share_ == 0) return;
  if (random_.uniform() < late_share_) {
    late_rows_.insert(id);
  } else {
    late_rows_.erase(id);
  }
}

}  // namespace filereel
