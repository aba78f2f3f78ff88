// How jobs work: a Job declares what a kind of work needs and does, and a FittedJob does so for one
// point of its sweep on certain volumes. The runner calls check() and needs() before any volume is
// touched, then fit() after it has been prepared, then make_replay() for each step. The kinds
// are in files of their own (fc_test_job.cc, workload_job.cc, trace_job.cc); job_wrappers.h has the
// base of jobs that wrap another one. What kinds have in common is in files for one purpose each,
// such as fitting.h (names and limits) and room.h (space). Start with FittedJob and Job here, then
// read fc_test_job.cc.
//
// A job: one thing to measure, described to the runner (runner.h).
//
// Jobs differ only in what they declare here: their needs of volumes, the timed steps, the
// operations of each step on a volume, the figures and the verification. The runner does the rest
// (volumes, caches, repetitions, turns, conditions). job_sources.cc lists the kinds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "filesets/system/random.h"
#include "replay/engine/replayer.h"
#include "replay/jobs/copy_command.h"
#include "replay/jobs/job_options.h"
#include "replay/jobs/room.h"
#include "replay/jobs/tree_check.h"
#include "replay/results/result.h"
#include "replay/volumes/volume.h"
#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

// The volumes of one side; none with the null engine.
struct Volumes {
  Volume* near = nullptr;
  std::vector<Volume*> far;  // Role::far and later roles; empty without near

  Volume* of(Role role) const;  // null if there is none
  // All volumes, near first.
  std::vector<Volume*> all() const;
  std::vector<Volume*> list(std::span<const Role> roles) const;
  // The limits of all volumes: what goes on each must obey all of them.
  std::vector<FileSystemLimits> limits() const;
  // Near's; "none" without volumes.
  std::string file_system() const;
};

// The number of volumes a job uses. It takes those available, up to `most`.
struct VolumeCount {
  std::size_t least = 1, most = 1;

  // The number if none are named: two, if supported.
  std::size_t usual() const { return std::clamp<std::size_t>(2, least, most); }
};

// One of several clients that run a job together. Each does the whole job, on files with content
// of its own, unless they share the files (JobOptions::share): then each does a part of it.
struct ClientRank {
  std::uint32_t client = 0, clients = 1;  // its number, from 0, and their number
  bool share = false;

  // The seed of its content. That of the first client is unchanged.
  std::uint64_t seed_of(std::uint64_t seed) const {
    return share || client == 0 ? seed : mix_seed(seed, client);
  }
  // Parts of shared files: its number, and their number.
  std::uint32_t part() const { return share ? client : 0; }
  std::uint32_t parts() const { return share ? clients : 1; }
  // The number of trees on each volume: one of each client, or a common one.
  std::uint32_t trees() const { return share ? 1 : clients; }
};

// The volumes of a job before any of them is touched.
struct PlannedVolumes {
  struct Formatted {
    FileSystemKind kind = FileSystemKind::ext4;
    FileSystemLimits limits = {};
  };

  std::size_t count = 1;
  std::vector<Formatted> formatted = {};  // file systems, one after another; empty: no formatting
  // By role: the limits of a directory; nothing for a volume to be formatted. Empty: unknown.
  std::vector<std::optional<FileSystemLimits>> directories = {};
  ClientRank client = {};

  std::vector<FileSystemKind> kinds() const;
  // The limits of all volumes together: for each file system, or of the directories alone.
  std::vector<std::vector<FileSystemLimits>> limits() const;
  // The limits of a directory; null for a volume to be formatted, and if unknown.
  const FileSystemLimits* directory(std::size_t role) const;
};

// The throughput that estimates assume, in bytes per second.
inline constexpr double kAssumedRate = 200e6;

// The assumed time to create files, each of which costs about as much as 64 KiB.
double creation_seconds(const FileSetTotals& totals);

// A time as it is assumed before anything is measured: time_estimate.h corrects it.
struct ExpectedTime {
  double work_s = 0;   // on a drive of 200 MB/s
  double waits_s = 0;  // time limits, pauses and rates, which no drive shortens
};

// Everything known before any volume is touched.
struct JobNeeds {
  std::array<VolumeNeeds, kRoles> volumes = {};  // by Role
  // One repetition of all points, estimated: all steps, their part that is waits, and the creation
  // of the initial files.
  double seconds = 0, waits_s = 0, fill_s = 0;
};

// A timed part of a job.
struct Step {
  std::string operation;  // in results: "create", "replay", a phase's name
  bool measured = true;
  Caches caches = Caches::cold;              // before it
  std::vector<Role> volumes = {Role::near};  // used by the step, in the order of roles
  // With several volumes: measure all together, and each separately.
  bool apart = false;
  std::uint64_t bytes = 0, files = 0, operations = 0;  // of the work, for progress; 0 if unknown
  double ends_after_s = 0;                             // of a time-limited step
  std::uint64_t idle_ns = 0;                           // without I/O, before it
  bool rates = false;                                  // Sample::rates are sampled
  ExpectedTime expected = {.work_s = 1};
  bool only_reads = false;  // files that exist before it: see JobOptions::shift
  std::optional<AccessShape> access = {};
  std::optional<bool> without_direct_io = {};  // see Measurement
};

// The files of a step or a volume; they live as long as the fitted job.
struct Contents {
  const FileSet* initial = nullptr;  // created before the first step; null: none
  const FileSet* largest = nullptr;  // the largest tree, for the space check; null: nothing
  std::uint64_t copies = 1;          // of the largest
};

// The operations of a step, to be replayed once. Everything they refer to is here or in the fitted
// job.
class StepReplay {
 public:
  virtual ~StepReplay() = default;

  // Throws the Error that ended the reading of operations early; call after the replay.
  virtual void check() const {}
  // Adds the counts for a sample's figures; called after fill_sample. `outcome`: of all volumes, or
  // of one.
  virtual void count(const ReplayOutcome& outcome, const Volumes& volumes,
                     Sample& sample) const = 0;

  Trace trace;
  // Does the work of the step; the trace then reads what it has copied, to verify it.
  std::optional<CopyProgram> program = {};
  ReplayOptions options;  // the runner sets stop, progress, verify and on_measured_start
};

// A job at a point of its sweep, fitted to volumes.
class FittedJob {
 public:
  virtual ~FittedJob() = default;

  virtual const std::vector<Step>& steps() const = 0;
  virtual Contents contents(Role) const { return {}; }
  // Files that a step may read on a volume: not in cold caches, all in warm ones. Valid as long as
  // the fitted job.
  virtual FileList read_by(std::size_t step, Role) const = 0;
  virtual std::unique_ptr<StepReplay> make_replay(std::size_t step) const = 0;
  // The same for measuring the overhead, without waits; null: too long for that.
  virtual std::unique_ptr<StepReplay> make_overhead_replay(std::size_t step) const {
    return make_replay(step);
  }
  // The expected entries of a volume after the step; nothing if unknown.
  virtual std::optional<std::vector<ExpectedTree>> tree_after(std::size_t /*step*/, Role) const {
    return {};
  }
  // A warning if a step that failed like this is skipped; nothing if the failure is an error.
  virtual std::optional<Warning> unsupported(std::size_t /*step*/, const Sample&) const {
    return {};
  }
};

// The place to which a job is fitted.
struct FittingPlace {
  Volumes volumes;
  std::uint64_t free_bytes = 0;  // of the volume with the least, for files that fill it
  Result& result;                // for warnings and changed names
  ClientRank client = {};
};

// The common part of job records; `name` is used unless the options set one.
JobRecord common_record(JobKind kind, const std::string& name, const JobOptions& options);

// Measuring does not change it.
class Job {
 public:
  virtual ~Job() = default;

  // The job in results. Jobs that differ only in their sets have the same record.
  virtual JobRecord record() const = 0;
  virtual std::string set() const = 0;  // of FC-Test; "" for other kinds

  // What it does, in words, at the first point; see WorkRecord.
  virtual WorkRecord work() const = 0;
  // The content of the work at the point, regardless of its name: see Measurement::work_digest.
  virtual std::string work_digest(std::uint64_t point) const = 0;

  // Points of the sweep, run one after another in each repetition.
  virtual std::uint64_t points() const = 0;
  virtual Parameters parameters(std::uint64_t point) const = 0;
  virtual JobOptions options(std::uint64_t point) const = 0;
  // Whether `point` uses the files that the point `before` leaves, unchanged.
  virtual bool follows(std::uint64_t before, std::uint64_t point) const = 0;
  // The number of consecutive points that take turns: each repetition begins with the next one of
  // them. For points that are compared with each other and share no files. 1: in their order.
  virtual std::uint64_t turns() const = 0;
  // The number of clients at the point, of several processes; 0: all of them.
  virtual std::uint32_t clients(std::uint64_t point) const = 0;
  // The part of near that it is measured on, of those of the plan.
  virtual std::size_t part(std::uint64_t point) const = 0;

  // The job's own defaults; empty, nothing: none.
  virtual std::vector<FileSystemKind> file_systems() const = 0;
  virtual std::optional<std::uint32_t> runs() const = 0;

  virtual VolumeCount volume_count() const = 0;
  // The needs of all points on such volumes.
  virtual JobNeeds needs(const PlannedVolumes& volumes) const = 0;
  // Throws Error for everything on which fit() to such volumes, or a replay there, would fail at
  // some point of the sweep, so that nothing is touched before that is known. May read a whole
  // trace.
  virtual void check(const PlannedVolumes& volumes) const = 0;
  // Access shapes of the steps at the device, for the block baseline. May read a whole trace.
  virtual std::vector<AccessShape> shapes() const = 0;
  // Advice if a volume lacks space.
  virtual std::string_view room_advice() const = 0;
  // Whether its files have a scale. Those of a recorded trace do not, nor those that fill a volume.
  virtual bool scales() const = 0;
  // Divergence from a recorded trace is data; in synthesised work it is an error.
  virtual bool may_diverge() const = 0;
  // How a recorded trace is replayed; nothing for other kinds.
  virtual std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const = 0;

  // `place` and this job must outlive the fitted job. Throws Error for what the volumes cannot
  // hold, and for a corrupt trace.
  virtual std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const = 0;
};

// The base of kinds of jobs: the usual answers, of a job with one point. A wrapper of a job derives
// from JobAround (job_wrappers.h) instead. That has no defaults, so that the compiler finds a
// function that it does not forward: wrapped jobs would fall back to the default, without a word.
class PlainJob : public Job {
 public:
  std::string set() const override { return ""; }
  std::uint64_t points() const override { return 1; }
  Parameters parameters(std::uint64_t /*point*/) const override { return {}; }
  bool follows(std::uint64_t /*before*/, std::uint64_t /*point*/) const override { return false; }
  std::uint64_t turns() const override { return 1; }
  std::uint32_t clients(std::uint64_t /*point*/) const override { return 0; }
  std::size_t part(std::uint64_t /*point*/) const override { return 0; }
  std::vector<FileSystemKind> file_systems() const override { return {}; }
  std::optional<std::uint32_t> runs() const override { return {}; }
  VolumeCount volume_count() const override { return {}; }
  bool scales() const override { return true; }
  bool may_diverge() const override { return false; }
  std::optional<ReplayParameters> replay_parameters(std::uint64_t /*point*/) const override {
    return {};
  }
};

// Jobs with the null engine need no volumes.
inline bool needs_no_volume(const Job& job) {
  return job.options(0).engine == EngineKind::null;
}

}  // namespace filereel
