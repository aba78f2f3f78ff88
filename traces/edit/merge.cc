// Combines several traces into one.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "traces/edit/id_remapper.h"

namespace filereel {
namespace {

// Differing facts are joined.
void add_facts(std::span<const TraceInput> inputs, TraceBuilder& out) {
  std::map<std::string, std::string> facts;
  for (const TraceInput& input : inputs) {
    for (const auto& [name, value] : input.info.facts) {
      std::string& all = facts[name];
      if (all == value) continue;
      all += all.empty() ? value : "; " + value;
    }
  }
  for (const auto& [name, value] : facts) out.fact(name, value);
}

}  // namespace

void merge_traces(std::span<const TraceInput> inputs, bool apart, TraceBuilder& out) {
  struct MergeInput {
    IdRemapper remapper;
    OperationReader operations;
    std::uint64_t begin_ns;
  };
  std::deque<MergeInput> strands;
  std::vector<FileSet> trees;
  for (const TraceInput& input : inputs) {
    const std::string below = apart ? std::to_string(strands.size() + 1) : std::string();
    MergeInput& strand =
        strands.emplace_back(IdRemapper(input, out, below), OperationReader(input.source), 0);
    const RecordedOperation* first = strand.operations.peek();
    strand.begin_ns = first != nullptr ? first->start_ns : 0;
    trees.push_back(strand.remapper.tree(input.trees.initial));
    strand.remapper.add_threads();
    strand.remapper.add_losses();
  }
  add_facts(inputs, out);
  out.model().begin_with(unite(std::move(trees)));

  const auto starts = [](MergeInput& strand) -> std::uint64_t {
    const RecordedOperation* next = strand.operations.peek();
    return next == nullptr ? UINT64_MAX
                           : next->start_ns - std::min(next->start_ns, strand.begin_ns);
  };
  for (;;) {
    const auto next = std::ranges::min_element(strands, {}, starts);
    if (next == strands.end() || next->operations.peek() == nullptr) return;
    RecordedOperation recorded = *next->operations.peek();
    recorded.start_ns = starts(*next);
    next->remapper.add(recorded);
    next->operations.pop();
  }
}

void repeat_trace(const std::function<TraceInput()>& again, std::uint32_t times,
                  TraceBuilder& out) {
  std::uint64_t later = 0;
  std::vector<std::uint32_t> before;  // threads of the previous repetition
  for (std::uint32_t repetition = 1; repetition <= times; ++repetition) {
    const TraceInput input = again();
    IdRemapper remapper(input, out, std::to_string(repetition));
    if (repetition == 1) {
      // All directories exist from the start.
      std::vector<FileSet> trees;
      for (std::uint32_t i = 1; i <= times; ++i) {
        trees.push_back(IdRemapper(input, out, std::to_string(i)).tree(input.trees.initial));
      }
      out.model().begin_with(unite(std::move(trees)));
      remapper.add_losses();
      for (const auto& [name, value] : input.info.facts) out.fact(name, value);
    }
    remapper.add_threads();
    std::vector<bool> begun(input.info.threads.size());
    OperationReader operations(input.source);
    const std::uint64_t begin_ns = operations.peek() != nullptr ? operations.peek()->start_ns : 0;
    std::uint32_t last = 0;  // thread of the last operation
    for (; const RecordedOperation* next = operations.peek(); operations.pop()) {
      RecordedOperation recorded = *next;
      recorded.start_ns -= std::min(recorded.start_ns, begin_ns);
      const std::uint32_t thread = recorded.operation.thread;
      if (thread < begun.size() && !begun[thread]) {
        begun[thread] = true;
        // Nothing else delays the start of a thread without a fork.
        if (input.info.threads[thread].parent == TraceThread::kNoParent) {
          for (const std::uint32_t ended : before) {
            Operation join;
            join.kind = OperationKind::join;
            join.thread = remapper.thread(thread);
            join.second = ended;
            out.add({join, later + recorded.start_ns, 0});
          }
        }
      }
      remapper.add(recorded, later);
      last = remapper.thread(thread);
    }
    later += input.info.duration_ns;
    remapper.close_all(last, later);
    before.clear();
    for (std::uint32_t i = 0; i < input.info.threads.size(); ++i) {
      before.push_back(remapper.thread(i));
    }
  }
}

}  // namespace filereel
