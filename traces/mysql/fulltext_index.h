// The full-text index: words of new documents are gathered in memory and written to auxiliary
// tables from time to time; removed documents are remembered in another table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "filesets/system/random.h"
#include "traces/mysql/key_tree.h"
#include "traces/mysql/page_cache.h"
#include "traces/mysql/undo_log.h"

namespace filereel {

class FulltextIndex {
 public:
  // Different words; every word of a status is one of these, all with the same probability.
  static constexpr std::uint64_t kVocabulary = 100'000;
  // Letters of a word, and the blank behind it.
  static constexpr std::uint64_t kWordBytes = 8;
  // Words of a status of so many bytes.
  static constexpr std::uint64_t words_of(std::uint64_t row_bytes) {
    return (row_bytes + 1) / kWordBytes;
  }

  FulltextIndex(ServerCalls& calls, ServerThreads threads, PageCache& cache, UndoLog& undo,
                std::uint64_t rows, std::uint64_t words_per_row, std::uint64_t word_ns,
                std::uint64_t seed);
  void start();

  // Documents came, all with the same words: they are kept in memory.
  void add_documents(std::uint64_t count);
  // A document is no longer there: a row of the table of those, a transaction of its own.
  Part remove_documents(std::uint32_t thread, std::uint64_t count, std::uint64_t documents);
  // What a search for a word reads before it knows the documents.
  Part search(std::uint32_t thread);

 private:
  // A word by its file and its key there, which leaves room for more below it.
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
    std::set<std::uint64_t> waiting;  // keys of words that are in memory only
  };

  ServerCalls& calls_;
  ServerThreads threads_;
  PageCache& cache_;
  UndoLog& undo_;
  Random random_;
  std::uint64_t words_per_row_;
  std::uint64_t word_ns_;  // time of the processors for a word that is written
  std::array<WordTable, kWordFiles> words_;
  TableSpace deleted_space_{ServerFile::deleted};
  KeyTree deleted_{deleted_space_};
  std::uint64_t words_seen_ = 0;
  std::uint64_t cached_ = 0;  // bytes in memory
  Signal full_;
};

}  // namespace filereel
