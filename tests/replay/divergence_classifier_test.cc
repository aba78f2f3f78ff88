// What explains a divergence, and what does not.
#include "replay/engine/divergence_classifier.h"

#include <doctest/doctest.h>
#include <errno.h>

namespace filereel {
namespace {

using enum OperationKind;

Operation on_file(OperationKind kind, FileId entry, PathId path, std::int64_t expected = 0) {
  Operation operation;
  operation.kind = kind;
  operation.entry = entry;
  operation.path = path;
  operation.expected = expected;
  return operation;
}

TEST_CASE("attributes that a file system lacks explain only attribute divergences") {
  PathTable paths;
  const PathId path = paths.add(Role::near, "d/f");
  for (const OperationKind kind : {set_xattr, change_mode, set_times, advise, sync}) {
    DivergenceClassifier judge(paths);
    CHECK(judge.judge(on_file(kind, 5, path), path, -EOPNOTSUPP) == DivergenceClass::limit);
    CHECK(judge.judge(on_file(read, 5, path, 60), path, 100) == DivergenceClass::mismatch);
    DivergenceClassifier other(paths);
    CHECK(other.judge(on_file(kind, 5, path), path, -EOPNOTSUPP) == DivergenceClass::limit);
    CHECK_FALSE(other.is_consequence(on_file(read, 5, path, 60), path));
    const bool explains = kind == set_xattr;
    CHECK((other.judge(on_file(get_xattr, 5, path, 3), path, -ENODATA) ==
           DivergenceClass::consequence) == explains);
  }
}

TEST_CASE("attributes that are too large or too many are limits, and only attributes") {
  PathTable paths;
  const PathId path = paths.add(Role::near, "f");
  for (const int error : {E2BIG, ERANGE, ENOSPC}) {
    DivergenceClassifier judge(paths);
    CHECK(judge.judge(on_file(set_xattr, 5, path), path, -error) == DivergenceClass::limit);
  }
  DivergenceClassifier judge(paths);
  CHECK(judge.judge(on_file(unlink, 6, path), path, -E2BIG) == DivergenceClass::mismatch);
}

TEST_CASE("a missing name explains divergences on it and below") {
  PathTable paths;
  const PathId folder = paths.add(Role::near, "d");
  const PathId path = paths.add(Role::near, "d/f");
  DivergenceClassifier judge(paths);
  CHECK(judge.judge(on_file(stat, 5, folder), folder, -ENOENT) == DivergenceClass::mismatch);
  CHECK(judge.judge(on_file(unlink, 6, path), path, -ENOENT) == DivergenceClass::consequence);
}

TEST_CASE("a failed call succeeds in the trace, and the volume did not do its work") {
  for (const int error : {EINVAL, ENOSPC, EDQUOT, EIO, EROFS, EFBIG}) {
    CHECK(is_failed_call(on_file(write, 5, 1, 512), -error));
    CHECK_FALSE(is_failed_call(on_file(write, 5, 1, -EINVAL), -error));  // failed there, too
  }
  CHECK(is_failed_call(on_file(write, 5, 1, 512), 100));
  CHECK_FALSE(is_failed_call(on_file(read, 5, 1, 512), 100));
  for (const OperationKind kind : {link, symlink}) {
    CHECK(is_failed_call(on_file(kind, 5, 1), -EPERM));
    CHECK(is_failed_call(on_file(kind, 5, 1), -EOPNOTSUPP));
  }
  CHECK(is_failed_call(on_file(link, 5, 1), -EMLINK));
  CHECK(is_failed_call(on_file(sync, 5, 1), -EIO));
}

TEST_CASE("names, other threads and missing attributes are no failed calls") {
  for (const int error : {ENOENT, EEXIST, ENOTDIR, ENOTEMPTY, EBADF, EAGAIN}) {
    CHECK_FALSE(is_failed_call(on_file(open, 5, 1), -error));
  }
  CHECK_FALSE(is_failed_call(on_file(set_xattr, 5, 1), -EOPNOTSUPP));
  CHECK_FALSE(is_failed_call(on_file(change_mode, 5, 1), -EPERM));
  CHECK(is_failed_call(on_file(change_mode, 5, 1), -EIO));
}

}  // namespace
}  // namespace filereel
