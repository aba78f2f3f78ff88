// How this folder works: each edit (cut.cc, merge.cc, anonymise.cc; copies.h for copies) reads the
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
#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

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

}  // namespace filereel
