#include "replay/run/plan_digest.h"

#include <memory>
#include <utility>

#include "replay/jobs/work_digest.h"
#include "replay/json.h"

namespace filereel {
namespace {

Json axes_to_json(const JobRecord& record) {
  Json axes = Json::array();
  for (const SweepAxis& axis : record.axes) axes.push_back({axis.name, axis.values});
  return axes;
}

// Of the first point.
Json steps_to_json(const Job& job) {
  Result unused;
  const auto fitted = job.fit(0, {.volumes = {}, .free_bytes = 0, .result = unused});
  Json json = Json::array();
  for (const Step& step : fitted->steps()) {
    const AccessShape shape = step.access.value_or(AccessShape{});
    json.push_back({step.operation, step.bytes, step.files, step.operations, step.ends_after_s,
                    step.only_reads, shape.random, shape.block_size, shape.depth});
  }
  return json;
}

// What the plan of all clients has in common leaves out: names, and how traces are replayed.
Json names_to_json(const Plan& plan) {
  Json json = Json::array();
  json.push_back(plan.name);
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    const ReplayParameters replay = job->replay_parameters(0).value_or(ReplayParameters{});
    json.push_back({job->record().name, job->set(), job->points(), replay.pace, replay.order,
                    replay.engine, replay.clients});
  }
  return json;
}

}  // namespace

std::string common_plan(const RunRequest& request) {
  Json json = {request.auto_runs.has_value(), request.targets.far.size(),
               request.targets.against.size(), request.targets.control.has_value()};
  for (const std::unique_ptr<Job>& job : request.plan.jobs) {
    const JobRecord record = job->record();
    const JobOptions options = job->options(0);
    const JobNeeds needs = job->needs({.count = job->volume_count().least});
    Json space = Json::array();
    for (const VolumeNeeds& volume : needs.volumes) space.push_back(volume.least);
    Json work = Json::array();
    for (std::uint64_t point = 0; point < job->points(); ++point) {
      work.push_back(job->work_digest(point));
    }
    json.push_back({record.kind, settings_text(record), axes_to_json(record), std::move(work),
                    request.runs.value_or(runs_of(*job)), job->clients(0), options.share,
                    options.shift, options.verify, options.order, options.depth, needs.seconds,
                    space, steps_to_json(*job)});
  }
  return text_of_json(json);
}

std::string plan_digest(const RunRequest& request) {
  return digest_of(common_plan(request) + text_of_json(names_to_json(request.plan)));
}

}  // namespace filereel
