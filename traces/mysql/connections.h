// The connections: each runs its statements in sequence, each as a transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "filesets/system/random.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/mysql/page_cache.h"
#include "traces/mysql/server_calls.h"
#include "traces/mysql/tables.h"

namespace filereel {

// The binary log: committing transactions queue up. The first one writes and syncs for all of them
// and commits them in order.
class BinaryLog {
 public:
  // `sync_every`: groups per sync, 0 for none.
  BinaryLog(ServerCalls& calls, std::uint32_t sync_every);

  // Returns when the transaction is in the log and `commit` has run for it. The leader's thread
  // calls `commit` with its own thread number.
  Part commit(std::uint32_t thread, std::uint64_t bytes, std::function<Part(std::uint32_t)> commit);

 private:
  struct Participant {
    std::uint64_t bytes;
    std::function<Part(std::uint32_t)> commit;
    bool done = false;
  };
  Part lead(std::uint32_t thread);

  ServerCalls& calls_;
  std::uint32_t sync_every_;
  std::uint64_t end_;
  std::uint64_t groups_ = 0;
  std::vector<Participant*> queue_;
  bool writing_ = false, committing_ = false;
  Signal written_, committed_;
};

class Connections {
 public:
  // `fulltext` is null if there is no such index.
  Connections(const MysqlMixOptions& options, ServerCalls& calls, PageCache& cache, UndoLog& undo,
              BinaryLog& binlog, ItemTable& table, FulltextIndex* fulltext);

  // Starts this number of further transactions.
  void start(std::uint64_t transactions);
  // Whether all of them are done.
  bool done() const { return working_ == 0; }
  // Transactions with changes since start().
  std::uint64_t commits() const { return commits_; }

 private:
  // Changes of a transaction so far.
  struct Transaction {
    std::vector<PageId> pages;             // to be revisited by the purge
    std::uint64_t undo = 0;                // bytes
    std::uint64_t added = 0, removed = 0;  // documents
  };

  Part connection(std::uint32_t thread);
  Part perform(std::uint32_t thread, Statement statement);
  Part insert(std::uint32_t thread);
  Part update_key(std::uint32_t thread);
  Part update_text(std::uint32_t thread);
  Part remove(std::uint32_t thread, std::uint64_t first, std::uint64_t count, std::uint64_t text);
  Part select_text(std::uint32_t thread);
  Part scan(std::uint32_t thread, std::uint64_t row_ns);
  Part update_like(std::uint32_t thread);
  Part delete_time(std::uint32_t thread);

  using ChangeRow = Part (Connections::*)(std::uint32_t thread, std::uint64_t id, Transaction&);
  Part change_by_scan(std::uint32_t thread, std::set<std::uint64_t>& ids, ChangeRow change,
                      std::uint64_t text_bytes);
  Part scan_leaf(std::uint32_t thread, std::uint32_t number, std::uint32_t leaves,
                 std::uint64_t page_ns);

  Part remove_document(std::uint32_t thread, Transaction& transaction);
  Part update_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction);
  Part remove_row(std::uint32_t thread, std::uint64_t id, Transaction& transaction);
  Part add_document(std::uint32_t thread, Transaction& transaction);
  Part commit(std::uint32_t thread, Transaction& transaction, std::uint64_t text_bytes);
  Part commit_in_order(std::uint32_t thread, const Transaction& transaction);
  Part flush_log(std::uint32_t thread);

  // Rows of leaves below `front_` are locked by a statement that reads all rows. A change of a row
  // by key waits for that statement, but not for other changes by key.
  static constexpr std::uint32_t kAllRows = UINT32_MAX, kNewRow = kAllRows - 1;
  Part lock_row(std::uint32_t leaf);
  void unlock_row();
  void unlock_all_rows();

  Statement choose();
  std::uint64_t some_row() { return 1 + random_.below(first_rows_); }
  // A Poisson-distributed number with this mean.
  std::uint64_t draw_count(double mean);
  double rows_of_word() const;  // on average
  // A new time, possibly above the integer of delete_time.
  void give_time(std::uint64_t id);

  const MysqlMixOptions& options_;
  ServerCalls& calls_;
  PageCache& cache_;
  UndoLog& undo_;
  BinaryLog& binlog_;
  ItemTable& table_;
  FulltextIndex* fulltext_;
  Random random_;
  std::uint64_t first_rows_;
  std::uint64_t words_per_row_;
  std::uint64_t left_ = 0;  // transactions not yet started by any connection
  std::uint64_t commits_ = 0;
  std::uint32_t working_ = 0;
  std::uint32_t writers_ = 0;  // transactions with rows locked by key
  std::uint32_t front_ = 0;
  Signal unlocked_;
  double late_share_;                  // share of new times above the integer of delete_time
  std::set<std::uint64_t> late_rows_;  // ids of rows with such times
};

}  // namespace filereel
