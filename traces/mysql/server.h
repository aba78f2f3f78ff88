// The whole simulated server.
#pragma once

#include <cstdint>
#include <optional>

#include "traces/model/trace_builder.h"
#include "traces/mysql/connections.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/mysql/page_cache.h"

namespace filereel {

class MysqlServer {
 public:
  // Both outlive this object. Settles the server first, without adding to the trace.
  MysqlServer(const MysqlMixOptions& options, TraceBuilder& trace);

  // Continues; adds operations to the trace. False at the end.
  bool step();
  std::uint64_t commits() const { return connections_.commits(); }
  const ItemTable& table() const { return table_; }

 private:
  Part master();
  void name_threads(TraceBuilder& trace);

  const MysqlMixOptions& options_;
  ServerThreads threads_;
  Simulation simulation_;
  ServerCalls calls_;
  RedoLog redo_;
  BinaryLog binlog_;
  PageIo io_;
  PageCache cache_;
  UndoLog undo_;
  PageCleaner cleaner_;
  ItemTable table_;
  std::optional<FulltextIndex> fulltext_;
  Connections connections_;
  bool ended_ = false;
};

}  // namespace filereel
