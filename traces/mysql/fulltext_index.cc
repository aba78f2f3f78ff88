#include "traces/mysql/fulltext_index.h"

namespace filereel {
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
