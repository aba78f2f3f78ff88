// Making new traces from old ones. The result goes through a TraceBuilder, which finds its initial
// tree anew.
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

// A trace to be read: `source` at its beginning.
struct TraceInput {
  RecordedSource& source;
  const TraceTables& tables;
  const TraceInfo& info;
  const TraceTrees& trees;
};

struct Cut {
  // Operations that start in [from, to), or before and are under way at `from`.
  std::optional<std::uint64_t> from_ns, to_ns;
  std::vector<std::uint32_t> threads;  // none: all
  std::vector<std::string> below;      // paths; none: all
};

// Keeps what `cut` says. Files that are open where the cut begins are opened by added operations,
// and so are those that a thread which is left out opens; the tree there becomes the initial one.
// What is open at the end is closed.
void cut_trace(const TraceInput& input, const Cut& cut, TraceBuilder& out);

// Several traces at the same time, side by side: their times begin together, thread numbers follow
// each other. With `apart` each works in a directory of its own ("1", "2" …), else on the same
// tree.
void merge_traces(std::span<const TraceInput> inputs, bool apart, TraceBuilder& out);

// The trace `times` times, one after another, each in a directory of its own ("1", "2" …): a second
// run in the same tree would find what the first one left. What one leaves open is closed.
void repeat_trace(const std::function<TraceInput()>& again, std::uint32_t times, TraceBuilder& out);

// Replaces every component of every path and link text (but not ".." and the shape), keeping
// lengths of extensions and equal names equal; `key` decides the names. Nothing else changes.
void anonymise_trace(const TraceInput& input, std::uint64_t key, TraceBuilder& out);

}  // namespace filereel
