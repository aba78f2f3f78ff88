// One engine on two volumes, for tests of single operations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/engine/divergence_classifier.h"
#include "replay/engine/engine_context.h"
#include "tests/replay/two_volumes.h"
#include "traces/operation_stream.h"
#include "traces/path_table.h"

namespace filereel {

struct EngineRig {
  TwoVolumes volumes;
  PathTable paths;
  TextTable texts;
  std::vector<OpenFile> open_files = std::vector<OpenFile>(16);
  std::vector<Mapping> mappings = std::vector<Mapping>(4);
  DirectoryChanges directories;
  DivergenceClassifier judge{paths};

  EngineContext context() {
    EngineContext result;
    result.paths = &paths;
    result.texts = &texts;
    result.roots = {volumes.near_root.get(), volumes.far_root.get()};
    result.open_files = open_files;
    result.mappings = mappings;
    result.largest_io = 64 * 1024;
    result.kinds.set();
    result.judge = &judge;
    result.directories = &directories;
    return result;
  }

  std::string near(const std::string& path) const { return volumes.near / path; }

  Operation at(OperationKind kind, const std::string& path, std::uint32_t mode = 0755) {
    Operation operation = named(kind, paths.add(Role::near, path));
    operation.mode = mode;
    return operation;
  }
  Operation open(FileSlot file, const std::string& path, int flags, FileId entry = kNoFileId) {
    Operation operation = open_file(paths.add(Role::near, path), file, flags, 0644);
    operation.entry = entry;
    return operation;
  }
  static Operation transfer(OperationKind kind, FileSlot file, std::uint64_t offset,
                            std::uint64_t length, FileId entry = 0) {
    Operation operation = data(kind, file, offset, length);
    operation.entry = entry;
    return operation;
  }
  Operation two(OperationKind kind, const std::string& old_path, const std::string& path) {
    Operation operation = at(kind, path);
    operation.old_path = paths.add(Role::near, old_path);
    return operation;
  }
};

}  // namespace filereel
