#include "traces/mysql/tables.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

#include "filesets/system/units.h"

namespace filereel {
namespace {

// Pages of the system table space: the headers of the rollback segments, then undo logs, which are
// reused in turn after the purge has freed them.
constexpr std::uint32_t kHeaders = 256;
constexpr std::uint32_t kFirstUndo = 512, kUndoPages = 2048;
constexpr std::uint32_t kLoadedUndoPages = 700;
constexpr std::uint64_t kSystemPages = 4864;  // 76 MiB
// Fill level above which a page is not used for another transaction.
constexpr std::uint64_t kReuse = kPage * 3 / 4;
constexpr std::uint64_t kLogHeader = 250;  // of one transaction, with its XID
// The redo log of this work is counted with the statements.
constexpr std::uint64_t kPurgeCpu = 8'000;  // ns per page
constexpr std::size_t kPurgeBatch = 300;    // innodb_purge_batch_size
constexpr std::uint64_t kPurgePause = 20'000'000;

}  // namespace

UndoLog::UndoLog(ServerCalls& calls, ServerThreads threads, PageCache& cache)
    : calls_(calls), threads_(threads), cache_(cache), work_(calls.simulation()) {
  calls.set_size(ServerFile::system, kSystemPages * kPage);
  for (UndoSegment& segment : segments_) segment.page = kFirstUndo + next_page_++;
}

void UndoLog::start() {
  // Remains of the load that are not needed any more.
  for (std::uint32_t i = kUndoPages - kLoadedUndoPages; i < kUndoPages; ++i) {
    cache_.loaded({ServerFile::system, kFirstUndo + i});
  }
  calls_.simulation().start(purge());
}

Part UndoLog::write(std::uint32_t thread, std::uint64_t bytes) {
  const std::size_t number = next_segment_++ % kSegments;
  UndoSegment& segment = segments_[number];
  for (bytes += kLogHeader; bytes > 0;) {
    const std::uint64_t here = std::min(bytes, kPage);
    if (segment.bytes + here > kReuse && segment.bytes > 0) {
      segment.bytes = 0;
      segment.page = kFirstUndo + next_page_++ % kUndoPages;
      const PageId fresh{ServerFile::system, segment.page};
      segment.bytes += here;
      co_await cache_.create(thread, fresh, 0);
    } else {
      segment.bytes += here;
      co_await cache_.change(thread, {ServerFile::system, segment.page}, 0);
    }
    bytes -= here;
  }
  const auto header = static_cast<std::uint32_t>(kHeaders + number);
  co_await cache_.change(thread, {ServerFile::system, header}, 0);
}

void UndoLog::committed(std::span<const PageId> pages) {
  history_.insert(history_.end(), pages.begin(), pages.end());
}

void UndoLog::release() {
  if (--holders_ == 0) work_.raise();
}

Part UndoLog::purge() {
  const std::uint32_t thread = threads_.purger();
  for (;;) {
    co_await calls_.simulation().sleep(kPurgePause);
    while (holders_ > 0) co_await work_.wait();
    while (!history_.empty() && holders_ == 0) {
      for (std::size_t i = 0; i < kPurgeBatch && !history_.empty(); ++i) {
        const PageId page = history_.front();
        history_.pop_front();
        co_await cache_.change(thread, page, 0);
        co_await calls_.simulation().sleep(kPurgeCpu);
      }
    }
  }
}

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

void KeyTree::begin_with(std::uint32_t leaves, std::uint64_t keys, std::uint32_t fill) {
  leaves = std::max<std::uint32_t>(leaves, 1);
  end_ = keys;
  // A leaf at an odd multiple of 2^n was split off when leaves were 2^n of these apart.
  std::vector<std::uint32_t> order;
  order.reserve(leaves);
  order.push_back(0);
  for (std::uint64_t distance = std::bit_ceil(leaves); distance > 0; distance /= 2) {
    for (std::uint64_t at = distance; at < leaves; at += 2 * distance) {
      order.push_back(static_cast<std::uint32_t>(at));
    }
  }
  for (const std::uint32_t place : order) {
    const std::uint64_t key = keys / leaves * place;
    // Spread uniformly, so that they do not all split at the same time.
    const std::uint32_t spread = std::min(fill, kRoom - fill);
    const std::uint32_t bytes = fill - spread + 2 * spread * (place * 7919U % 1024) / 1024;
    leaves_[key] = {segment_.pages(), bytes};
    segment_.grow();
  }
}

KeyTree::Found KeyTree::find(std::uint64_t key) const {
  const auto leaf = std::prev(leaves_.upper_bound(key));
  return {segment_.page(leaf->second.number)};
}

KeyTree::Found KeyTree::insert(std::uint64_t key, std::uint32_t bytes) {
  const auto leaf = std::prev(leaves_.upper_bound(key));
  Found found{segment_.page(leaf->second.number)};
  leaf->second.bytes += bytes;
  end_ = std::max(end_, key + 1);
  if (leaf->second.bytes <= kRoom) return found;
  const auto behind = std::next(leaf);
  const std::uint64_t low = leaf->first;
  const std::uint64_t end = behind == leaves_.end() ? end_ : behind->first;
  const std::uint64_t middle = low + (end - low) / 2;
  if (middle == low) return found;  // keys are not finer: the leaf remains too full
  leaf->second.bytes /= 2;
  leaves_[middle] = {segment_.pages(), leaf->second.bytes};
  segment_.grow();
  found.split = true;
  found.added = segment_.page(segment_.pages() - 1);
  return found;
}

namespace {

// Memory of a word, of a document, and of a word's position in another document in the cache, and
// the cache size that triggers a flush: a tenth of innodb_ft_cache_size. Measured: 641 documents of
// three words of 7 letters.
constexpr std::uint64_t kCachedWord = 404 + 7, kCachedDocument = 15, kCachedPosition = 6;
constexpr std::uint64_t kCacheLimit = 8'000'000 / 10;

// Record of a word: header 7, word 7, two document numbers 16, transaction and roll pointer 13,
// count 4, list of positions 5 or more, share of the directory.
constexpr std::uint32_t kWordRecord = 54;
constexpr std::uint32_t kDeletedRecord = 27;  // header, document number, transaction, roll pointer
constexpr std::uint64_t kWordUndo = 34;

// Redo log of a word's record with its undo and purge, of a split, of a removed document.
constexpr std::uint64_t kWordRedo = 75, kSplitRedo = 8'300, kDeletedRedo = 130;
constexpr std::uint64_t kIndexCommitRedo = 40;

// Measured on the files after loading 200,000 rows: records of words per leaf, and pages of the
// file per leaf.
constexpr std::uint64_t kLoadedRecords = 218, kLoadedIndexPages = 2;

// Words starting with A to E, F to J, K to O, P to T, U to Z.
constexpr std::array<std::uint64_t, kWordFiles + 1> kLetters = {0, 5, 10, 15, 20, 26};

// Documents are removed once. Additional bits distinguish them, so that leaves can be split.
constexpr std::uint64_t kDeletedBits = 8;
constexpr std::uint64_t kKeyBits = 32;  // low bits of a key: the document

constexpr std::uint64_t letters_of(std::size_t file) {
  return kLetters[file + 1] - kLetters[file];
}
constexpr std::uint64_t words_of_file(std::size_t file) {
  return FulltextIndex::kVocabulary * letters_of(file) / kLetters.back();
}

}  // namespace

FulltextIndex::FulltextIndex(ServerCalls& calls, ServerThreads threads, PageCache& cache,
                             UndoLog& undo, std::uint64_t rows, std::uint64_t words_per_row,
                             std::uint64_t word_ns, std::uint64_t seed)
    : calls_(calls),
      threads_(threads),
      cache_(cache),
      undo_(undo),
      random_(seed),
      words_per_row_(words_per_row),
      word_ns_(word_ns),
      full_(calls.simulation()) {
  for (std::size_t i = 0; i < kWordFiles; ++i) {
    const std::uint64_t records = rows * words_per_row * letters_of(i) / kLetters.back();
    words_[i].space = std::make_unique<TableSpace>(word_file(i));
    words_[i].tree = std::make_unique<KeyTree>(*words_[i].space);
    words_[i].tree->begin_with(static_cast<std::uint32_t>(records / kLoadedRecords),
                               words_of_file(i) << kKeyBits, kLoadedRecords * kWordRecord);
    calls.set_size(word_file(i), words_[i].space->pages() * kLoadedIndexPages * kPage);
  }
  deleted_.begin_with(1, rows << kDeletedBits, 0);
  calls.set_size(ServerFile::deleted, 2 * kExtent * kPage);
}

void FulltextIndex::start() {
  calls_.simulation().start(run());
}

FulltextIndex::Word FulltextIndex::draw_word() {
  const std::uint64_t letter = random_.below(kLetters.back());
  std::size_t file = 0;
  while (letter >= kLetters[file + 1]) ++file;
  return {file, random_.below(words_of_file(file)) << kKeyBits};
}

void FulltextIndex::add_documents(std::uint64_t count) {
  for (std::uint64_t i = 0; i < words_per_row_; ++i) {
    const Word word = draw_word();
    words_[word.file].waiting.insert(word.key | ++words_seen_);
    cached_ += kCachedWord;
  }
  cached_ += kCachedDocument * count + kCachedPosition * words_per_row_ * (count - 1);
  if (cached_ >= kCacheLimit) full_.raise();
}

Part FulltextIndex::remove_documents(std::uint32_t thread, std::uint64_t count,
                                     std::uint64_t documents) {
  std::vector<PageId> pages;
  for (std::uint64_t i = 0; i < count; ++i) {
    const KeyTree::Found found =
        deleted_.insert(random_.below(documents << kDeletedBits), kDeletedRecord);
    co_await cache_.change(thread, found.page, kDeletedRedo);
    if (found.split) co_await cache_.create(thread, found.added, kSplitRedo);
    pages.push_back(found.page);
  }
  co_await undo_.write(thread, kWordUndo * count);
  cache_.redo().append(kIndexCommitRedo);
  undo_.committed(pages);
}

Part FulltextIndex::search(std::uint32_t thread) {
  const Word word = draw_word();
  co_await cache_.get(thread, words_[word.file].tree->find(word.key).page);
  // Reads all removed documents in order to exclude them.
  for (std::uint32_t i = 0; i < deleted_.leaves(); ++i) {
    const PageId page = deleted_.page(i);
    if (!cache_.hit(page)) co_await cache_.get(thread, page);
  }
}

Part FulltextIndex::run() {
  for (;;) {
    while (cached_ < kCacheLimit) co_await full_.wait();
    undo_.hold();
    co_await write_words();
    undo_.release();
    cached_ = 0;
  }
}

// Writes the words in order, file by file, including new words ahead of the position, and repeats
// this for new words behind it until none is left; one transaction. In recordings, the purge did
// not revisit these pages.
Part FulltextIndex::write_words() {
  const std::uint32_t thread = threads_.fulltext();
  std::uint64_t written = 0;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t file = 0; file < kWordFiles; ++file) {
      std::set<std::uint64_t>& waiting = words_[file].waiting;
      for (auto next = waiting.begin(); next != waiting.end();) {
        const std::uint64_t key = *next;
        waiting.erase(next);
        co_await write_word(file, key);
        next = waiting.upper_bound(key);
        ++written;
        any = true;
      }
    }
  }
  co_await undo_.write(thread, written * kWordUndo);
  cache_.redo().append(kIndexCommitRedo);
  co_await cache_.redo().write_up_to(thread, cache_.redo().end(), true);
}

Part FulltextIndex::write_word(std::size_t file, std::uint64_t key) {
  const std::uint32_t thread = threads_.fulltext();
  const KeyTree::Found found = words_[file].tree->insert(key, kWordRecord);
  co_await cache_.change(thread, found.page, kWordRedo);
  if (found.split) co_await cache_.create(thread, found.added, kSplitRedo);
  co_await calls_.simulation().sleep(word_ns_);
}

}  // namespace filereel
