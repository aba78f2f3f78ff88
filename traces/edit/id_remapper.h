// Carries operations over from one trace into another: paths, texts, threads, open files and
// mappings get the numbers that they have there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/edit/edit.h"

namespace filereel {

// How names change on the way.
struct NameChange {
  std::function<std::string(std::string_view)> component;  // of a path
  std::function<std::string(std::string_view)> link_text;
  std::function<std::string(std::string_view)> attribute;  // of an extended attribute
};

class IdRemapper {
 public:
  // Everything is put below the directory `below`, a single name, unless that is empty. `change`
  // may be null. All outlive the carrier.
  IdRemapper(const TraceInput& input, TraceBuilder& out, std::string below = {},
             const NameChange* change = nullptr);

  // A tree of the input, as it is in the output.
  FileSet tree(const FileSet& set) const;

  // Adds all threads of the input.
  void add_threads();
  // The number of a thread; one that has none yet is added.
  std::uint32_t thread(std::uint32_t number);
  bool has_thread(std::uint32_t number) const;

  PathId path(PathId path);
  bool has_slot(FileSlot slot) const;
  FileSlot take_slot(FileSlot slot);  // of the input; gives its number in the output
  bool has_mapping(FileSlot mapping) const;
  FileSlot take_mapping(FileSlot mapping);

  // Adds operations of `thread` of the output, at its time, that close what the output has open by
  // this number of the input, that unmap what it has mapped, and both for all that there is.
  void close(FileSlot slot, std::uint32_t thread, std::uint64_t at_ns);
  void unmap(FileSlot mapping, std::uint32_t thread, std::uint64_t at_ns);
  void close_all(std::uint32_t thread, std::uint64_t at_ns);

  // Adds an operation of the input, at its own time plus `later`.
  void add(RecordedOperation recorded, std::uint64_t later = 0);

  // Takes over what was lost and approximated when the input was made.
  void add_losses();

 private:
  static constexpr std::uint32_t kUnmapped = UINT32_MAX;
  // The number at `index`, which is made by `make` if there is none.
  template <typename Make>
  static std::uint32_t numbered(std::vector<std::uint32_t>& numbers, std::uint32_t index,
                                Make make);
  static void forget(std::vector<std::uint32_t>& numbers, std::uint32_t index);

  std::string changed_path(std::string_view path) const;
  TextId text(const Operation& operation);
  void remap_file(Operation& operation);
  void remap_mapping(Operation& operation);

  const TraceInput& input_;
  TraceBuilder& out_;
  std::string below_;
  const NameChange* change_;
  std::vector<PathId> paths_;  // the rest: by number in the input
  std::vector<FileSlot> slots_, mappings_;
  std::vector<std::uint32_t> threads_;
  std::vector<PathId> chain_;
};

// One tree out of several that stand in the same place: the larger one of files that are in both,
// else what came first.
FileSet unite(std::vector<FileSet> sets);

// Reads a source operation by operation.
class OperationReader {
 public:
  explicit OperationReader(RecordedSource& source) : source_(source), buffer_(1024) {}

  // The next one, or null at the end; valid until pop().
  const RecordedOperation* peek();
  void pop() { ++at_; }

 private:
  RecordedSource& source_;
  std::vector<RecordedOperation> buffer_;
  std::size_t at_ = 0, count_ = 0;
};

}  // namespace filereel
