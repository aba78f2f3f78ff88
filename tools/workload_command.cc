#include "tools/workload_command.h"

#include <utility>

#include <fmt/format.h>

#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/run/workload_reel.h"
#include "replay/run/workload_run.h"
#include "tools/observed_run.h"
#include "tools/signals.h"
#include "tools/workload_table.h"

namespace filereel {
namespace {

std::uint64_t parse_time(const std::string& text) {
  const std::uint64_t time = parse_duration(text, "--time", ErrorKind::usage);
  if (time == 0) throw Error(ErrorKind::usage, "--time must be more than 0");
  return time;
}

}  // namespace

SweepArgument parse_sweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  SweepArgument sweep{std::string(text.substr(0, equals)), {}};
  std::string value;
  const auto add = [&] {
    const std::size_t begin = value.find_first_not_of(' ');
    const std::size_t end = value.find_last_not_of(' ') + 1;
    sweep.values.push_back(begin == std::string::npos ? "" : value.substr(begin, end - begin));
    value.clear();
  };
  if (equals != std::string_view::npos) {
    int depth = 0;
    for (const char c : text.substr(equals + 1)) {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == ',' && depth == 0) {
        add();
      } else {
        value += c;
      }
    }
    add();
  }
  const bool empty = std::ranges::any_of(sweep.values, &std::string::empty);
  if (!sweep.key.empty() && !sweep.values.empty() && !empty) return sweep;
  throw Error(ErrorKind::usage,
              fmt::format("--sweep {}: must be a key and its values, such as depth=1,4,16", text));
}

void run_workload_command(Workload workload, const WorkloadArguments& arguments, Session& session) {
  SweepOverrides values;
  for (const std::string& text : arguments.sweeps) {
    SweepArgument sweep = parse_sweep(text);
    values.insert_or_assign(sweep.key, std::move(sweep.values));
  }
  if (!values.empty()) workload.set_values(std::move(values));
  if (!arguments.time.empty() && is_recorded(workload.recipe(0))) {
    throw Error(ErrorKind::usage,
                "--time is for phases that a time ends: this workload is as long as its trace");
  }
  WorkloadRunRequest request{.workload = workload,
                             .near = {},
                             .scale = arguments.scale.value_or(1),
                             .destroy = arguments.destroy,
                             .warm = arguments.warm,
                             .keep = arguments.keep,
                             .block_baseline = arguments.block_baseline};
  request.runs = workload.runs;
  apply_runs(arguments.runs, request.runs, request.auto_runs);
  check_scale(request.scale);
  if (!arguments.near.empty()) request.near = parse_target(arguments.near);
  if (!arguments.against.empty()) request.against = parse_target(arguments.against);
  if (!arguments.time.empty()) request.time_ns = parse_time(arguments.time);
  for (const std::string& name : arguments.file_systems) {
    request.file_systems.push_back(parse_file_system(name));
  }
  request.power = enter_mount_namespace();  // before there are threads
  SignalWatch signals;
  request.stop = signals.token();
  observe_run(
      session, signals, arguments.output, request.against.has_value(),
      [&](RunObserver& observer, Result& result, Result* against) {
        return run_workload(request, observer, result, against);
      },
      format_workload);
}

}  // namespace filereel
