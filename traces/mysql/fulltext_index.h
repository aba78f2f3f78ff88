// The full-text index: words of new documents are gathered in memory and written to auxiliary
// tables from time to time. Another table lists removed documents.
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
