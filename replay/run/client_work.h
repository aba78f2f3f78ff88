// What one client does at a point of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "replay/clients/clients.h"
#include "replay/jobs/job.h"
#include "replay/plan/plan.h"
#include "replay/run/measure.h"
#include "replay/run/run_request.h"

namespace filereel {

// --- What the clients of a run do together.

// The samples of all clients as one. The first client gets all of it, the others only what tells
// whether the step failed. `own`: nothing if this client has not worked. `start`: as it saw it. All
// clients must call it for the same step. Throws as Clients::meet.
StepSamples merge_of_all(Clients& clients, const std::optional<StepSamples>& own,
                         const StartFigures& start);

// Throws Error(usage) if the plan needs more clients.
void check_clients(const Clients& clients, const Plan& plan);

// Throws Error(failed) if a client has another plan: recipes and file sets are files of its own. It
// compares the texts of recipes and plans, settings, repetitions, and sizes of files and work. All
// clients must call it.
void check_same_plan(Clients& clients, const RunRequest& request);

// Describes the clients in a result: their number among the settings of jobs, and warnings about
// those that differ from the first. All clients must call it.
void note_clients(Clients& clients, const Plan& plan, Result& result);

// Adds the warnings that only other clients have to the result of the first one. All clients must
// call it.
void gather_warnings(Clients& clients, Result& result);

// All clients make the same calls in the same order. A client that does not work at the point
// (Job::clients) takes part in their meetings only. Throws as Clients::meet.
class ClientWork {
 public:
  // `several`: false for a single process, which meets nobody. Everything else outlives the object.
  ClientWork(Clients& clients, bool several, const Job& job, std::uint64_t point,
             const Volumes& volumes);

  // Prepares the volumes of all clients; `format`: see Volume::prepare. Then the first client calls
  // `make_condition` while the others wait.
  void prepare(const std::optional<Format>& format,
               const std::function<void()>& make_condition) const;
  // The free space of each tree, of the volume and the client with the least. Nobody writes
  // meanwhile.
  std::uint64_t free_bytes() const;
  // Fits the job to the prepared volumes. `free_bytes`: see FittingPlace.
  void fit(std::uint64_t free_bytes, Result& result);
  const FittedJob& fitted() const { return *own_; }
  // Creates the initial files, and waits until all clients have. The volumes must have space for
  // the largest trees. Returns false if the stop was requested.
  bool fill(const std::stop_token& stop) const;
  // Measures a step. With several clients, the samples are those of all (merge_of_all). Nothing if
  // the stop was requested. `how`: without meet, gate and meet_at_end, and verify as for a single
  // client.
  std::optional<StepSamples> measure(std::size_t step, MeasureOptions how) const;

 private:
  // On the volumes: one for each client, or a common one.
  std::uint32_t trees() const { return rank_.share ? 1 : rank_.clients; }
  void enter(std::uint32_t client) const;

  Clients& clients_;
  const bool several_;
  const Job& job_;
  const std::uint64_t point_;
  const Volumes& volumes_;
  ClientRank rank_;
  bool idle_ = false;
  // The job on its own files, and on those of another client (JobOptions::shift).
  std::unique_ptr<FittedJob> own_, shifted_;
  std::uint32_t shifted_to_ = 0;
};

}  // namespace filereel
