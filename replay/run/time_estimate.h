// Estimates the time of a run: what was measured replaces what was assumed.
//
// The work consists of units: a point of a job (on a file system) on one side. A repetition does
// each of them once: it prepares the volumes (format, fill, rest) and does the steps, with their
// caches, durability and verification. One clock runs through all of it: a lap ends where the next
// one begins, so the laps add up to the time of the run.
//
// The time of a unit is the first of these that is known:
// - the mean of its last two repetitions
// - the mean of the same point on other sides, otherwise of the same job on other file systems
// - what was assumed: waits, which no volume shortens; the preparation and the work, each in the
//   proportion that was measured in this job so far, otherwise in jobs of the same kind,
//   otherwise in all, of which short work says little about long work. Every preparation and step
//   that has ended counts, also those of the first repetition: formatting, which depends on the
//   file system, says nothing about the speed of the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filesets/file_set.h"
#include "replay/jobs/job.h"
#include "replay/run/repetitions.h"
#include "replay/run/run_request.h"
#include "replay/run/stage.h"

namespace filereel {

struct EstimatedJob {
  const Job* job = nullptr;          // its address alone is used
  std::optional<JobKind> kind = {};  // of the job
  std::uint64_t points = 1;
  double runs = 1;         // the expected number of repetitions
  ExpectedTime unit = {};  // assumed, of the steps
  double prepare_s = 0;    // assumed, of formatting and filling for them
  double most_s = 0;       // the budget of automatic repetitions; 0: none
};

class TimeEstimate {
 public:
  // `before_s`: assumed time of the work before the first job. `began_ns`: the start of the run,
  // on `clock`. The jobs outlive the object.
  TimeEstimate(const std::vector<EstimatedJob>& jobs, std::size_t sides, double before_s,
               std::uint64_t began_ns, Nanoseconds clock = now_ns);

  // Call in this order for each unit, with begin_job and set_runs before each repetition.
  // `most_s`: see EstimatedJob; what earlier jobs left of the budget is known now.
  void begin_job(std::size_t job, double most_s = 0);
  void set_runs(double runs);  // the number of repetitions expected now
  void begin_unit(std::uint64_t point, std::size_t side);
  void prepared(const std::vector<Step>& steps);
  void step_ended();
  void end_job();  // no further repetition follows

  // From the end of the last lap.
  double left_s() const;
  double step_s() const;          // of the current step
  bool step_is_measured() const;  // otherwise its time is assumed

  // A line for the user: the first time the estimate with what it assumes, later its correction.
  // Nothing if that is not worth a line.
  std::optional<std::string> news();

 private:
  struct Lap {
    double last_s = 0, before_s = 0;
    std::uint32_t count = 0;

    void add(double seconds);
    double mean() const;
  };
  struct Unit {
    std::uint32_t begun = 0, ended = 0;
    std::vector<Lap> laps = {};  // its preparation, then its steps
    double seconds() const;
  };
  struct Proportion {
    double measured_s = 0, assumed_s = 0;

    void add(double measured, double assumed);
  };
  struct JobTimes {
    EstimatedJob plan;
    std::vector<Unit> units = {};  // by point, then by side
    Proportion preparation = {}, work = {};
  };

  const Unit* similar(std::size_t job, std::size_t unit) const;
  double unit_s(std::size_t job, std::size_t unit) const;
  enum class Automatic { expected, whole_budget };
  double pending_s(Automatic runs) const;
  double lap_s(std::size_t lap) const;
  double factor(const JobTimes& times, Proportion JobTimes::* kind, double assumed_s) const;
  double end_lap();  // its seconds
  double seconds_since(std::uint64_t began_ns) const;
  std::string limit(double all) const;
  std::string assumed_jobs() const;  // how many; "" for none

  std::size_t sides_;
  std::vector<JobTimes> jobs_;
  Nanoseconds clock_;
  std::uint64_t began_ns_, lap_ns_, job_ns_ = 0;
  std::size_t job_ = 0, unit_ = 0, lap_ = 0;  // the current ones
  std::vector<ExpectedTime> assumed_ = {};    // of the current unit's steps
  double later_s_ = 0;                        // all units that have not begun
  double before_s_;
  double told_s_ = 0;  // 0: nothing yet
};

// The repetitions of a stage's jobs, and the estimate of their time.

// Repetitions of a job that is not automatic.
std::uint32_t runs_of(const Job& job, const RunRequest& request);

// Jobs with a number of repetitions of their own are not automatic.
bool is_automatic(const Job& job, const RunRequest& request);
std::size_t count_automatic(const Stage& stage, const RunRequest& request);

// `shapes`: the number of access shapes of the block baseline, which is measured first.
TimeEstimate estimate_of(const Stage& stage, const RunRequest& request, std::size_t shapes);

}  // namespace filereel
