// A job: one thing to measure, as it declares itself to the runner (runner.h).
//
// Jobs differ only in what stands here: what they need of volumes, the steps that are timed, the
// operations of each step on a volume, what figures are made of and what is verified. All else
// (volumes, caches, repetitions, turns, conditions) is the runner's. job_kinds.h lists the kinds.
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
#include "replay/engine/replayer.h"
#include "replay/results/result.h"
#include "replay/run/job_options.h"
#include "replay/volumes/volume.h"
#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

// The volumes of one side; none for the null engine.
struct Volumes {
  Volume* near = nullptr;
  std::vector<Volume*> far;  // Role::far and those after it; not without near

  Volume* of(Role role) const;  // null: there is none
  // Those there are, near first.
  std::vector<Volume*> all() const;
  std::vector<Volume*> list(std::span<const Role> roles) const;
  // The limits of all: what is to lie on each must obey those of each.
  std::vector<FileSystemLimits> limits() const;
  // Each once, near's first: "ext4", "ext4 to ntfs"; "none" without volumes.
  std::string file_system() const;
};

// How many volumes a job works on. It takes those that there are, up to `most`.
struct VolumeCount {
  std::size_t least = 1, most = 1;

  // Where nobody names any: two, if it can.
  std::size_t usual() const { return std::clamp<std::size_t>(2, least, most); }
};

// What a job puts on the volume of a role.
struct VolumeNeeds {
  // Bytes of an image that has room on each file system that was asked for.
  std::uint64_t image = 0;
  // What it takes with the smallest clusters there are: a volume with less is refused at once.
  // 0: it takes what there is.
  std::uint64_t least = 0;
  std::string what;  // it is that takes it, such as "the set 'programs'"
};

// All that can be known before anything is touched.
struct JobNeeds {
  std::array<VolumeNeeds, kRoles> volumes = {};  // by Role
  double seconds = 0;                            // one repetition of all points, about
};

// A stretch of a job that is timed by itself.
struct Step {
  std::string operation;  // in results: "create", "replay", a phase's name
  bool measured = true;
  Caches caches = Caches::cold;              // before it
  std::vector<Role> volumes = {Role::near};  // that it works on, in the order of roles
  // Where it works on several: what is done on each is measured together, and of each by itself.
  bool apart = false;
  std::uint64_t bytes = 0, files = 0;  // of the work, for progress; 0 where that is not known
  double ends_after_s = 0;             // where time ends it
  double expected_s = 1;               // about
  std::optional<AccessShape> access = {};
};

// The files of a step or a volume; they live as long as the fitted job.
struct Contents {
  const FileSet* initial = nullptr;  // made before the first step; null: none
  const FileSet* largest = nullptr;  // all that can lie there, for room; null: nothing
  std::uint64_t copies = 1;          // of the largest
};

struct FilesRead {
  std::vector<std::string> paths;
  std::uint64_t bytes = 0;  // of all together
};
// Those of a set, or of its paths that are `wanted`.
FilesRead files_of(const FileSet& set, const std::function<bool(std::string_view)>& wanted = {});

// The operations of a step, to be replayed once. All that they refer to is here or in the fitted
// job.
class StepReplay {
 public:
  virtual ~StepReplay() = default;

  // What ended the reading of the operations early, thrown as Error; after the replay.
  virtual void check() const {}
  // Adds to a sample what its figures are made of; after fill_sample. `outcome`: of all, or of one
  // volume.
  virtual void count(const ReplayOutcome& outcome, const Volumes& volumes,
                     Sample& sample) const = 0;

  Trace trace;
  ReplayOptions options;  // stop, progress, verify and on_measured_start are the runner's
};

// A job at a point of its sweep, as some volumes can hold it.
class FittedJob {
 public:
  virtual ~FittedJob() = default;

  virtual const std::vector<Step>& steps() const = 0;
  virtual Contents contents(Role) const { return {}; }
  // What a step may read on a volume: cold caches must not hold it, warm ones must.
  virtual FilesRead read_by(std::size_t step, Role) const = 0;
  virtual std::unique_ptr<StepReplay> make_replay(std::size_t step) const = 0;
  // The same for filereel's own cost, with nothing to wait for; null: it is too long.
  virtual std::unique_ptr<StepReplay> make_bare_replay(std::size_t step) const {
    return make_replay(step);
  }
  // What must lie on a volume after the step; nothing where that is not known.
  virtual std::optional<FileSet> tree_after(std::size_t /*step*/, Role) const { return {}; }
  // Why a step that failed like this is left out and not an error; nothing: it is one.
  virtual std::optional<Warning> unsupported(std::size_t /*step*/, const Sample&) const {
    return {};
  }
};

// What a job is fitted to.
struct FittingPlace {
  Volumes volumes;
  std::uint64_t free_bytes = 0;  // of the volume that has the least, for files that fill it
  Result& result;                // for warnings, and names that were changed
};

// What results tell of every job; `name` where the options give it no other.
JobRecord begun_record(JobKind kind, const std::string& name, const JobOptions& options);

// Not changed by what is measured.
class Job {
 public:
  virtual ~Job() = default;

  // As results tell it. Jobs that are told apart by their sets alone have the same record.
  virtual JobRecord record() const = 0;
  virtual std::string set() const { return ""; }  // of FC-Test

  // Points of the sweep; they are run one after another in each repetition.
  virtual std::uint64_t points() const { return 1; }
  virtual Parameters parameters(std::uint64_t /*point*/) const { return {}; }
  virtual JobOptions options(std::uint64_t point) const = 0;
  // Whether `point` works on the files that the point `before` leaves, as they are.
  virtual bool follows(std::uint64_t /*before*/, std::uint64_t /*point*/) const { return false; }

  // What it asks for, where nobody says otherwise; empty, nothing: it does not.
  virtual std::vector<FileSystemKind> file_systems() const { return {}; }
  virtual std::optional<std::uint32_t> runs() const { return {}; }

  virtual VolumeCount volume_count() const { return {}; }
  // Of all points, on so many volumes. `kinds`: what is going to be made on them; empty for
  // directories. Throws Error for what cannot lie on one of them.
  virtual JobNeeds needs(std::span<const FileSystemKind> kinds, std::size_t volumes) const = 0;
  // What the steps' reads and writes are to a device, for the block baseline. May read all of a
  // trace.
  virtual std::vector<AccessShape> shapes() const = 0;
  // What helps where a volume has no room.
  virtual std::string_view room_advice() const = 0;
  // What differs from a trace is data; in made-up work it is an error.
  virtual bool may_diverge() const { return false; }
  // Of a recorded trace: how it is replayed.
  virtual std::optional<ReplayParameters> replay_parameters(std::uint64_t /*point*/) const {
    return {};
  }

  // `place` outlives the fitted job, and so does this. Throws Error for what the volumes cannot
  // hold, and for a damaged trace.
  virtual std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const = 0;
};

// "the null engine": it needs no volumes.
inline bool needs_no_volume(const Job& job) {
  return job.options(0).engine == EngineKind::null;
}

}  // namespace filereel
