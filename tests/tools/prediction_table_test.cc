#include "tools/cli/prediction_table.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/kept_file.h"

namespace filereel {
namespace {

std::string not_bold(const std::string& text) {
  return text;
}

ReplayedVolume replayed_volume(const std::string& name, const std::string& file_system,
                               double seconds) {
  return {.name = name,
          .file_system = file_system,
          .seconds = {seconds * 0.99, seconds, seconds, seconds, seconds, seconds * 1.02}};
}

const PredictedProgram kClone = {
    .reel = "clone.reel", .command = "git clone project", .recorded_s = 0.78};

std::string shown(std::span<const ReplayedVolume> volumes,
                  const PredictedProgram& program = kClone) {
  StoredPrediction stored{.program = program, .volumes = {volumes.begin(), volumes.end()}};
  stored.prediction = predict_times(
      volumes, program.unknown_accuracy.empty() ? std::optional(kReplayAccuracy) : std::nullopt,
      0.1);
  return format_prediction(stored, not_bold);
}

TEST_CASE("a prediction is shown as in the golden file") {
  std::vector<ReplayedVolume> volumes = {
      replayed_volume("/mnt/c/test", "btrfs", 1.26), replayed_volume("/mnt/a/test", "xfs", 0.81),
      replayed_volume("/mnt/b/test", "ext4", 1.2), replayed_volume("/mnt/d/test", "vfat", 0.5)};
  volumes.back().obstacle =
      "12 of 4711 results differ in 5 runs, so the program would do something else than recorded";
  CHECK(shown(volumes) == kept_file("tools/golden/prediction.txt"));
}

TEST_CASE("a single volume has a time instead of a ranking") {
  const std::string text = shown(std::vector{replayed_volume("/mnt/a", "xfs", 0.81)});
  CHECK(text.contains("\n810 ms on /mnt/a (xfs), with 95 % confidence 630 ms to 1.04 s.\n"));
  CHECK_FALSE(text.contains("Fastest"));
}

TEST_CASE("file systems of one volume were not measured in turns") {
  CHECK(shown(std::vector{replayed_volume("image:a", "ext4", 1),
                          replayed_volume("image:a", "xfs", 1)})
            .contains(
                "\ntime from the first to the last operation; median of 6 repetitions, the file\n"
                "  systems one after the other;"));
}

TEST_CASE("volumes of the same speed are not called fast or slow") {
  const std::string text =
      shown(std::vector{replayed_volume("/a", "xfs", 1), replayed_volume("/b", "xfs", 1.01)});
  CHECK(text.contains("\n/a (xfs) and /b (xfs): no significant difference"));
  CHECK_FALSE(text.contains("Slowest"));
  CHECK(text.contains("1-2"));
}

TEST_CASE("a program has its label, or of a long command line its name") {
  PredictedProgram program = kClone;
  const auto first_line = [&] {
    const std::string text = shown(std::vector{replayed_volume("/a", "xfs", 1)}, program);
    return text.substr(0, text.find(':'));
  };
  program.command = "/usr/bin/pgbench " + std::string(100, 'x');
  CHECK(first_line() == "pgbench");
  program.label = "shop";
  CHECK(first_line() == "shop");
}

TEST_CASE("remarks on the recording are shown") {
  PredictedProgram program = kClone;
  program.remarks = {"the recorded program failed"};
  CHECK(shown(std::vector{replayed_volume("/a", "xfs", 1)}, program)
            .contains("\nthe recorded program failed\n"));
}

TEST_CASE("an unknown accuracy is stated instead of figures") {
  PredictedProgram program = kClone;
  program.unknown_accuracy = "the reel has no waits";
  const std::string text = shown(std::vector{replayed_volume("/a", "xfs", 1)}, program);
  CHECK(text.contains("ACCURACY UNKNOWN: the reel has no waits."));
  CHECK(text.contains("\nIn replays of unknown accuracy: 1.00 s on /a (xfs).\n"));
  CHECK_FALSE(text.contains("8 %"));
}

}  // namespace
}  // namespace filereel
