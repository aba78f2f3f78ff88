#include "replay/results/failures.h"

#include <string>

#include <doctest/doctest.h>
#include <errno.h>

#include "tests/sample_result.h"

namespace filereel {
namespace {

TEST_CASE("true mismatches and differences in the tree make a failed replay, of all repetitions") {
  CHECK(failures_of(sample_replay()) ==
        "6 true mismatches, 3 differences in the tree in 3 runs (position 1234, thread 3, rename "
        "a/b\\x0a: expected 0, got ENOENT)");
}

TEST_CASE("consequences and limits alone do not fail a replay") {
  Result result = sample_replay();
  for (Sample& sample : result.measurements[0].samples) {
    sample.reel->divergences = {{"consequence", 4}, {"limit", 1}};
    sample.tree.reset();
    sample.examples.clear();
  }
  CHECK(failures_of(result).empty());
}

TEST_CASE("wrong content fails a replay, and a difference in the tree alone is named") {
  Result result = sample_replay();
  result.measurements[0].samples.resize(1);
  Sample& sample = result.measurements[0].samples[0];
  sample.examples.clear();
  sample.reel->divergences = {{"content", 1}};
  CHECK(failures_of(result) ==
        "1 read with wrong content, 1 difference in the tree (a/c has 5 bytes instead of 10)");
}

TEST_CASE("other content is told by its first byte in the file") {
  CHECK(describe_divergence({.position = 7,
                             .thread = 1,
                             .operation = "read",
                             .path = "a",
                             .expected = 4096,
                             .result = 8200,
                             .divergence_class = "content"}) ==
        "position 7, thread 1, read a: the content differs from byte 8200 of the file on");
}

// Of a replay in which direct writes failed, more of them in the second run.
Result with_failed_writes() {
  Result result = sample_replay();
  for (Sample& sample : result.measurements[0].samples) {
    sample.reel->divergences.clear();
    sample.examples.clear();
    sample.tree.reset();
  }
  result.measurements[0].samples[0].failed_calls = {{"near", "write", "EINVAL", 40}};
  result.measurements[0].samples[1].failed_calls = {{"near", "link", "EPERM", 2},
                                                    {"near", "write", "EINVAL", 50}};
  return result;
}

TEST_CASE("failed calls make a measurement incomplete, with volume, operation, error and number") {
  const Result result = with_failed_writes();
  const Measurement& measurement = result.measurements[0];
  CHECK(is_incomplete(measurement));
  const std::vector<FailedWork> work = failed_work_of(measurement);
  REQUIRE(work.size() == 2);
  CHECK(describe_failed_work(work[0], result, measurement) ==
        "write on /dev/sdb1 (near, ext4) failed with EINVAL: up to 50 times a run, in 2 of 3 runs");
  CHECK(verification_failures_of(result).empty());
  CHECK(work_failures_of(result) == failures_of(result));
  CHECK(describe_failed_work(work[1], result, measurement) ==
        "link on /dev/sdb1 (near, ext4) failed with EPERM: 2 times a run, in 1 of 3 runs");
  CHECK(failures_of(result) ==
        describe_failed_work(work[0], result, measurement) + ", and 1 other kind of call failed");
}

TEST_CASE("of results without failed calls, the examples of limits tell") {
  Result result = sample_replay();
  CHECK_FALSE(is_incomplete(result.measurements[0]));  // a rename of a missing name
  result.measurements[0].samples[0].examples = {{7, 0, "write", "f", 512, -EINVAL, "limit"},
                                                {8, 0, "write", "f", -EINVAL, 512, "limit"}};
  CHECK(is_incomplete(result.measurements[0]));
  CHECK(failed_work_of(result.measurements[0]).at(0).calls.count == 1);
  CHECK(is_incomplete(sample_result().measurements.back()));
}

TEST_CASE("a failed operation is reported with its file, in one line, with advice") {
  const DivergenceExample full{16, 1, "write", "a\x1b[31m", 65536, -28};
  const std::string text = describe_failure("ext4, run 2", full, "use a larger volume");
  CHECK(text.starts_with("ext4, run 2: write of a\\x1b[31m failed (operation 17): "));
  CHECK(text.ends_with("; the volume is full: use a larger volume"));
  const DivergenceExample mounted{16, 1, "open", "copy/a", 0, -18};
  CHECK(describe_failure("ext4, run 2", mounted, "")
            .ends_with("; unmount what was mounted in the work directory"));
  const DivergenceExample quota{16, 1, "write", "copy/a", 65536, -EDQUOT};
  CHECK(describe_failure("ext4, run 2", quota, "use a larger volume")
            .ends_with("Disk quota exceeded; a quota of the volume is exhausted: raise the quota, "
                       "or use a larger volume"));
  const DivergenceExample removed{16, 1, "open", "copy/a", 0, -ENOENT};
  CHECK(describe_failure("ext4, run 2", removed, "")
            .ends_with("; another program changed the files in the work directory: keep it out, "
                       "and repeat the run"));
  const DivergenceExample broken{16, 1, "read", "copy/a", 5, -5};
  CHECK(describe_failure("ext4, run 2", broken, "").contains("(dmesg) for device errors"));
  const DivergenceExample hidden{16, 1, "write", "copy/a", 65536, -EIO};
  CHECK(describe_failure("fuse.sshfs, run 2", hidden, "free space", true)
            .ends_with("Input/output error, and the volume has no free space; the volume is full: "
                       "free space"));
  CHECK(failed_work_advice("EIO, and the volume has no free space") ==
        failed_work_advice("ENOSPC"));
}

}  // namespace
}  // namespace filereel
