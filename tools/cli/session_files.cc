#include "tools/cli/session_files.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>

#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/compare/same_work.h"
#include "replay/measure/clock.h"
#include "replay/results/hidden_serials.h"
#include "replay/run/plan_digest.h"
#include "replay/run/result_filling.h"
#include "replay/run/targets.h"
#include "replay/volumes/block_device.h"
#include "replay/volumes/device_identity.h"
#include "replay/volumes/network_share.h"
#include "tools/cli/result_file.h"

namespace filereel {
namespace {

std::string differs(std::string_view what, std::string_view found, std::string_view expected) {
  if (found == expected) return "";
  const auto text = [](std::string_view one) { return one.empty() ? "none" : printable(one); };
  return fmt::format("{} is {}, not {}", what, text(found), text(expected));
}

std::string jobs_text(const std::vector<JobRecord>& jobs) {
  std::vector<std::string> names;
  for (const JobRecord& job : jobs) names.push_back(job.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// JSON does not keep the order of settings.
JobRecord comparable(JobRecord job) {
  for (auto& [name, value] : job.settings) {
    if (name == "purge") value = "true";  // otherwise what came of it
  }
  std::ranges::sort(job.settings);
  job.overhead_ns = 0;  // measured
  return job;
}

std::string sweep_text(const JobRecord& job) {
  std::vector<std::string> axes;
  for (const SweepAxis& axis : job.axes) {
    axes.push_back(fmt::format("{}={}", axis.name, fmt::join(axis.values, ",")));
  }
  return fmt::format("{}", fmt::join(axes, " "));
}

std::string jobs_difference(const PlanRecord& found, const PlanRecord& expected) {
  std::string text = differs("the list of jobs", jobs_text(found.jobs), jobs_text(expected.jobs));
  if (!text.empty()) return text;
  if (found.jobs.size() != expected.jobs.size()) return "the number of jobs differs";
  for (std::size_t i = 0; i < found.jobs.size(); ++i) {
    const JobRecord record = comparable(found.jobs[i]), other = comparable(expected.jobs[i]);
    if (record == other) continue;
    text = differs("the sweep of " + printable(record.name), sweep_text(record), sweep_text(other));
    if (!text.empty()) return text;
    return fmt::format("the settings of {} are {}, not {}", printable(record.name),
                       printable(settings_text(record)), printable(settings_text(other)));
  }
  return "";
}

// Without a difference in words, "": the digests of the plans tell.
std::string work_difference(const PlanRecord& found, const PlanRecord& expected) {
  for (const WorkRecord& work : found.work) {
    const auto now = std::ranges::find_if(expected.work, [&](const WorkRecord& one) {
      return one.job == work.job && one.set == work.set;
    });
    if (now == expected.work.end() || now->does == work.does) continue;
    const JobRecord* const job = find_or_null(found.jobs, work.job, &JobRecord::name);
    const JobKind kind = job ? job->kind : JobKind::workload;
    const auto [before, after] = changed_lines(work, *now);
    return fmt::format("the {} has changed: \"{}\" there, \"{}\" now",
                       printable(work_name(kind, work.job, work.set)), printable(before),
                       printable(after));
  }
  return "";
}

// A result that is not complete may have fewer repetitions and file systems.
std::string extent_difference(const Result& found, const ExpectedSession& expected) {
  const PlanRecord& plan = expected.result.plan;
  if (found.plan.auto_runs != plan.auto_runs) return "--runs, --precision or --budget differ";
  const bool runs_known = found.complete && !plan.auto_runs;
  if (runs_known && found.plan.runs != plan.runs) {
    return differs("the number of runs", std::to_string(found.plan.runs),
                   std::to_string(plan.runs));
  }
  const std::vector<std::string>& kinds = found.plan.file_systems;
  const bool only_wanted = std::ranges::all_of(
      kinds, [&](const std::string& kind) { return contains(plan.file_systems, kind); });
  if (kinds.empty() || (only_wanted && !expected.all_file_systems)) return "";
  return differs("the list of file systems", fmt::format("{}", fmt::join(kinds, ",")),
                 fmt::format("{}", fmt::join(plan.file_systems, ",")));
}

// The drives' values without duplicates; "" if unknown.
std::string drives_text(const VolumeDescription& volume, std::string DeviceIdentity::* member) {
  std::set<std::string> values;
  for (const DeviceIdentity& drive : volume.drives) values.insert(drive.*member);
  values.erase("");
  return fmt::format("{}", fmt::join(values, ", "));
}

// What is below a directory: the share, otherwise the type of the file system. "" for others.
std::string mounted_text(const VolumeDescription& volume, bool hidden) {
  if (volume.target_kind != target_kind_name(TargetKind::directory)) return "";
  if (!volume.network) return volume.file_system;
  return hidden ? volume.network->protocol : volume.network->source;
}

std::string drive_difference(const VolumeDescription& found, const VolumeDescription& expected,
                             bool hidden) {
  const std::string mounted = mounted_text(found, hidden), now = mounted_text(expected, hidden);
  if (!mounted.empty() && !now.empty() && mounted != now) {
    return fmt::format("it was measured on {}, but {} is now on {}", printable(mounted),
                       role_name(found.role), printable(now));
  }
  constexpr double kSameSize = 0.05;  // that of some file systems varies with their use
  const auto size = static_cast<double>(found.size), size_now = static_cast<double>(expected.size);
  if (!now.empty() && size > 0 && size_now > 0 && std::abs(size / size_now - 1) > kSameSize) {
    return differs(fmt::format("the size of what is mounted at {}", role_name(found.role)),
                   format_size(found.size), format_size(expected.size));
  }
  for (const auto& [what, member] : {std::pair{"model", &DeviceIdentity::model},
                                     std::pair{"serial number", &DeviceIdentity::serial},
                                     std::pair{"firmware", &DeviceIdentity::firmware}}) {
    const std::string one = drives_text(found, member), other = drives_text(expected, member);
    if (one.empty() || other.empty() || one == other) continue;
    return differs(fmt::format("the {} of {}", what, role_name(found.role)), one, other);
  }
  return "";
}

std::string volume_difference(const VolumeDescription& found, const ExpectedSession& expected) {
  const auto same_place = [&](const VolumeDescription& other) {
    return other.role == found.role && other.part == found.part;
  };
  const auto& volumes = expected.result.volumes;
  const auto other = std::ranges::find_if(volumes, same_place);
  if (other == volumes.end()) {
    return fmt::format("it has a volume {}{}", role_name(found.role),
                       found.part.empty() ? "" : " on the part " + printable(found.part));
  }
  // The name of a share may be hidden.
  const bool hidden = expected.result.serials_hidden;
  const std::string text =
      hidden && found.network ? "" : differs(role_name(found.role), found.target, other->target);
  return text.empty() ? drive_difference(found, *other, hidden) : text;
}

std::string volumes_difference(const Result& found, const ExpectedSession& expected) {
  for (const VolumeDescription& volume : found.volumes) {
    const std::string text = volume_difference(volume, expected);
    if (!text.empty()) return text;
  }
  if (!found.complete || !expected.all_volumes) return "";
  for (const VolumeDescription& volume : expected.result.volumes) {
    const bool used = contains(found.volumes, volume.role, &VolumeDescription::role);
    if (!used) return fmt::format("it has no volume {}", role_name(volume.role));
  }
  return "";
}

void add_expected(const Target& target, Role role, const std::string& part, Result& result) {
  VolumeDescription volume;
  volume.role = role;
  volume.target = target.text();
  volume.part = part;
  volume.drives = identify_devices(storage_of_file(target.path).device).drives;
  if (target.kind == TargetKind::directory) {
    volume.target_kind = target_kind_name(target.kind);
    const std::string there = existing_path(target.path);
    if (const auto mounted = mounted_at(there)) {
      volume.file_system = mounted->type;
      volume.network = network_share(*mounted);
    }
    struct statvfs info{};
    if (::statvfs(there.c_str(), &info) == 0) {
      volume.size = size_of_volume(info, storage_of_file(there).device);
    }
  }
  result.volumes.push_back(std::move(volume));
}

void add_volumes(const RunRequest& request, std::size_t side, Result& result) {
  const ChosenTargets targets =
      choose_targets(request.targets, request.plan.parts, request.power, kRoles);
  const SideTargets& own = side == 0 ? targets.first : targets.against[side - 1];
  const std::vector<DrivePart>& parts = request.plan.parts;
  for (std::size_t i = 0; i < own.near.size(); ++i) {
    add_expected(own.near[i], Role::near, parts.empty() ? "" : parts[i].name, result);
  }
  const std::vector<Target>& far = own.far.empty() ? targets.first.far : own.far;
  for (std::size_t i = 0; i < far.size(); ++i) {
    add_expected(far[i], static_cast<Role>(i + 1), "", result);
  }
}

// Two volumes in turn are named in the labels of their results.
std::string label_in_turn(const RunRequest& request, std::size_t side, const Result& result) {
  VolumeDescription near = result.volumes.front();
  near.target = (side == 0 ? *request.targets.near : request.targets.against[side - 1]).text();
  return described(near, result).target;
}

void add_file_systems(const RunRequest& request, PlanRecord& plan) {
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    const auto kinds = request.file_systems.empty() ? file_systems_of(*job) : request.file_systems;
    for (const FileSystemKind kind : kinds) {
      const std::string name(file_system_info(kind).name);
      if (!contains(plan.file_systems, name)) {
        plan.file_systems.push_back(name);
      }
    }
  }
}

// For near (side 0) or a volume of --against (from 1).
ExpectedSession expect_session(const RunRequest& request, const std::string& label,
                               bool serials_hidden, std::size_t side) {
  ExpectedSession expected;
  Result& result = expected.result;
  result.serials_hidden = serials_hidden;
  begin_result(result, request.plan, request.runs ? std::nullopt : request.auto_runs, "");
  result.plan.digest = plan_digest(request);
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    result.plan.runs = std::max(result.plan.runs, request.runs.value_or(runs_of(*job)));
  }
  add_file_systems(request, result.plan);
  expected.all_file_systems = !request.file_systems.empty();
  const bool volumes = !std::ranges::all_of(
      request.plan.jobs, [](const std::unique_ptr<Job>& job) { return needs_no_volume(*job); });
  if (volumes) add_volumes(request, side, result);
  expected.all_volumes = volumes && request.targets.near.has_value();
  result.label = label;
  const bool in_turn = volumes && !request.targets.against.empty();
  if (label.empty() && in_turn) result.label = label_in_turn(request, side, result);
  for (VolumeDescription& volume : result.volumes) volume = described(volume, result);
  return expected;
}

}  // namespace

std::string numbered_file(const std::string& file, std::uint32_t session) {
  if (file.empty() || file == "-") return file;
  const std::size_t name = file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1;
  const std::size_t dot = file.rfind('.');
  const bool extended = dot != std::string::npos && dot > name;
  const std::size_t at = extended ? dot : file.size();
  return fmt::format("{}-{}{}", file.substr(0, at), session, file.substr(at));
}

std::vector<std::string> files_of(const ResultOptions& output) {
  std::vector<std::string> files = {output.json};
  files.insert(files.end(), output.against_json.begin(), output.against_json.end());
  return files;
}

std::vector<ExpectedSession> expect_sessions(const RunRequest& request,
                                             const ResultOptions& output) {
  std::vector<ExpectedSession> expected;
  for (std::size_t side = 0; side < files_of(output).size(); ++side) {
    const std::string label = side == 0                      ? output.label
                              : output.against_label.empty() ? ""
                                                             : output.against_label[side - 1];
    expected.push_back(expect_session(request, label, output.hide_serials, side));
  }
  return expected;
}

std::string session_difference(const Result& found, const ExpectedSession& expected) {
  const Result& other = expected.result;
  if (found.plan.digest.empty()) return "it does not say what its plan was";
  const bool unlabelled = found.label.empty() && !found.complete;  // ended before its volumes
  for (const std::string& text :
       {differs("the version of filereel", found.version, other.version),
        differs("the plan", found.plan.name, other.plan.name),
        unlabelled ? "" : differs("the label", found.label, other.label),
        std::string(found.serials_hidden == other.serials_hidden ? "" : "--hide-serial differs"),
        jobs_difference(found.plan, other.plan), work_difference(found.plan, other.plan),
        extent_difference(found, expected), volumes_difference(found, expected),
        std::string(found.plan.digest == other.plan.digest
                        ? ""
                        : "options, file sets, recipes or reels have changed")}) {
    if (!text.empty()) return text;
  }
  return "";
}

std::vector<Result> load_begun(const RunRequest& request, const ResultOptions& output) {
  const std::vector<std::string> files = files_of(output);
  const std::vector<ExpectedSession> expected = expect_sessions(request, output);
  std::vector<Result> results;
  bool begun = true;
  for (std::size_t side = 0; side < files.size(); ++side) {
    Result result = load_result(files[side]);
    const std::string differs = session_difference(result, expected[side]);
    if (!differs.empty()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{} is not a result of this command: {}; repeat the command as it was, "
                      "with --resume instead of --json",
                      printable(files[side]), differs));
    }
    if (result.complete) {
      throw Error(ErrorKind::usage, fmt::format("{} is complete: there is nothing to resume",
                                                printable(files[side])));
    }
    if (side == 0 && request.targets.control.has_value() != !result.control.empty()) {
      throw Error(ErrorKind::usage, fmt::format("{} is not a result of this command: --control "
                                                "differs",
                                                printable(files[side])));
    }
    begun = begun && result.has_samples();
    results.push_back(std::move(result));
  }
  return begun ? results : std::vector<Result>();
}

std::uint64_t began_ns(const Result& result) {
  const std::int64_t now = time(nullptr);
  const std::int64_t ago_s = std::max<std::int64_t>(0, now - result.started_s().value_or(now));
  return now_ns() - static_cast<std::uint64_t>(ago_s) * 1'000'000'000;
}

double seconds_until_next(const std::string& started, double every_s, double now_s) {
  tm time{};
  if (!strptime(started.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time)) return 0;
  return std::clamp(static_cast<double>(timegm(&time)) + every_s - now_s, 0.0, every_s);
}

}  // namespace filereel
