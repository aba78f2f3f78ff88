// A job that is run on a directory of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/system/error.h"
#include "replay/jobs/job_makers.h"
#include "replay/run/runner.h"
#include "tests/replay/watcher.h"
#include "tests/temp_dir.h"

inline filereel::Target directory_target(const std::string& path) {
  filereel::Target target;
  target.path = path;
  return target;
}

struct JobRun {
  explicit JobRun(std::unique_ptr<filereel::Job> job) {
    plan.name = "plan";
    plan.jobs.push_back(std::move(job));
  }

  bool run() { return run_plan(request, watcher, result); }
  std::string failure() {
    try {
      run();
    } catch (const filereel::Error& error) {
      return error.what();
    }
    return "";
  }
  const filereel::Sample& sample(std::size_t measurement, std::size_t number = 0) const {
    return result.measurements.at(measurement).samples.at(number);
  }
  bool warns(std::string_view code, std::string_view text = "") const {
    return std::ranges::any_of(result.warnings, [&](const filereel::Warning& warning) {
      return warning.code == code && warning.text.find(text) != std::string::npos;
    });
  }

  TempDir temp;
  filereel::Plan plan;
  filereel::RunRequest request{
      .plan = plan, .targets = {.near = directory_target(temp / "volume")}, .runs = 1};
  Watcher watcher;
  filereel::Result result;
};
