#include "replay/run/workload_reel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "replay/results/failures.h"
#include "replay/run/prepared_volume.h"
#include "traces/catalog_reel.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/reel/reel_reader.h"

namespace filereel {
namespace {

// Passes on what belongs to a part of a run.
class PartObserver final : public RunObserver {
 public:
  PartObserver(RunObserver& whole, const Stretch& stretch) : whole_(whole), stretch_(stretch) {}

  void notice(const std::string& text) override { whole_.notice(text); }
  void step_begins(const StepInfo& step, const ReplayProgress& progress) override {
    StepInfo part = step;
    const Stretch stretch = stretch_.part({step.done, step.share});
    part.done = stretch.begin;
    part.share = stretch.length;
    whole_.step_begins(part, progress);
  }
  void step_ended() override { whole_.step_ended(); }
  void result_grew(const Result& result) override { whole_.result_grew(result); }

 private:
  RunObserver& whole_;
  Stretch stretch_;
};

// Adds what is worth knowing of what was measured.
void warn_of(const Measurement& measurement, Result& result) {
  const std::string differs = failures_of(measurement);
  if (differs.empty()) return;
  result.warn({"replay-differs",
               fmt::format("{} on {} is not what the trace was: {}", measurement.set,
                           measurement.file_system, differs),
               "docs/reel-tools.md says what the classes mean"});
}

}  // namespace

std::unique_ptr<ReelReader> open_reel(const std::string& name_or_path) {
  const auto found = std::ranges::find(reel_catalog(), name_or_path, &CatalogReel::name);
  return found == reel_catalog().end() ? std::make_unique<ReelReader>(name_or_path)
                                       : std::make_unique<ReelReader>(found->bytes, name_or_path);
}

bool is_recorded(const Recipe& recipe) {
  return recipe.mysql || !recipe.reel.empty();
}

bool measure_recorded(const Recipe& recipe, const ReelRunRequest& request, const Stretch& stretch,
                      RunObserver& observer, std::span<Result* const> results) {
  PartObserver part(observer, stretch);
  std::vector<std::size_t> first;
  for (const Result* result : results) first.push_back(result->measurements.size());
  bool complete = false;
  if (recipe.mysql) {
    MysqlMix mix(*recipe.mysql);
    complete = measure_reel(request, {"mysql-mix", mix}, part, results);
  } else {
    const std::unique_ptr<ReelReader> reader = open_reel(recipe.reel);
    complete = measure_reel(request, {recipe.reel, *reader}, part, results);
  }
  for (std::size_t side = 0; side < results.size(); ++side) {
    Result& result = *results[side];
    for (std::size_t i = first[side]; i < result.measurements.size(); ++i) {
      warn_of(result.measurements[i], result);
    }
  }
  return complete;
}

}  // namespace filereel
