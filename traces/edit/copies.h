// Concurrent copies of a trace, as from several clients.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/recorded_trace.h"

namespace filereel {

// `count` concurrent copies of a trace, each in its own directory ("1", "2" …): each operation
// occurs once per copy. Only the tables and trees of the trace are held in memory.
class TraceCopies final : public RecordedTrace {
 public:
  // `original` is at its start and outlives this object, which reads and rewinds it. Throws
  // Error(usage) if the copies exceed the range of the numbers.
  TraceCopies(RecordedTrace& original, std::uint32_t count);

  const TraceTables& tables() const override { return tables_; }
  const TraceInfo& info() const override { return info_; }
  const TraceTrees& trees() const override { return trees_; }

  std::size_t next(std::span<RecordedOperation> out) override;
  void rewind() override;

 private:
  void copy_tables(const TraceTables& tables);
  void copy_info(const TraceInfo& info);
  FileSet copy_set(const FileSet& set) const;
  RecordedOperation of_copy(const RecordedOperation& original, std::uint32_t copy) const;
  PathId path_of(PathId original, std::uint32_t copy) const;

  RecordedTrace& original_;
  std::uint32_t count_;
  // Of one copy.
  std::uint32_t threads_, slots_, mappings_, files_, paths_ = 0;
  TraceTables tables_;
  TraceInfo info_;
  TraceTrees trees_;
  std::vector<RecordedOperation> read_;  // from the original
  std::size_t at_ = 0, filled_ = 0;      // in read_
  std::uint32_t copy_ = 0;               // of read_[at_], the next one
};

}  // namespace filereel
