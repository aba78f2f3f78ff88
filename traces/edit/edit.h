// How this folder works: each edit (cut.cc, merge.cc, anonymise.cc; edit.h for copies) reads the
// operations of one or more traces and adds those that it keeps to a TraceBuilder. IdRemapper
// (id_remapper.h) translates numbers of paths, threads and open files from one trace to the other.
// Start here, then cut.cc.
//
// Creates new traces from existing ones. The result goes through a TraceBuilder, which infers its
// initial tree again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traces/model/trace_builder.h"
#include "traces/recorded_trace.h"

namespace filereel {

// A trace to read: `source` is at its start.
struct TraceInput {
  RecordedSource& source;
  const TraceTables& tables;
  const TraceInfo& info;
  const TraceTrees& trees;
};

struct Cut {
  // Operations that start in [from, to), or earlier and are in progress at `from`.
  std::optional<std::uint64_t> from_ns, to_ns;
  std::vector<std::uint32_t> threads;  // empty: all
  std::vector<std::string> below;      // paths; empty: all
};

// Keeps the part defined by `cut`. Added operations open the files that are open at the start of
// the cut, and those opened by omitted threads. The tree at the start becomes the initial one.
// Files open at the end are closed.
void cut_trace(const TraceInput& input, const Cut& cut, TraceBuilder& out);

// Runs several traces concurrently: they start at the same time, and thread numbers are
// consecutive. With `apart`, each has its own directory ("1", "2" …), otherwise they share a tree.
void merge_traces(std::span<const TraceInput> inputs, bool apart, TraceBuilder& out);

// Runs the trace `times` times in sequence, each in its own directory ("1", "2" …): a second run in
// the same tree would find the files of the first. Files left open by a run are closed.
void repeat_trace(const std::function<TraceInput()>& again, std::uint32_t times, TraceBuilder& out);

// Replaces every component of every path and link text (except ".."), keeping the structure, the
// lengths of extensions, and the equality of names; `key` determines the new names. Nothing else
// changes.
void anonymise_trace(const TraceInput& input, std::uint64_t key, TraceBuilder& out);

// --- Concurrent copies of a trace, as from several clients.

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
