// The result files of the sessions of one command: their names, and whether an existing file is one
// of them.
//
// A file is recognised by its content. Its plan has a digest of what is measured
// (replay/run/plan_digest.h). Settings that a user can change are also compared one by one, so that
// a message can say what differs. The drives are compared with those that are under the volumes
// now: after an update of the firmware, the same command line measures something else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/run_request.h"
#include "tools/cli/observed_run.h"

namespace filereel {

// "r-2.json" for session 2 of "r.json". "" and "-" stay.
std::string numbered_file(const std::string& file, std::uint32_t session);

// What a result of a session has, as far as it is known before it is measured.
struct ExpectedSession {
  Result result;                  // version, label, serials_hidden, plan, volumes with their drives
  bool all_file_systems = false;  // plan.file_systems are required; otherwise those available
  bool all_volumes = false;       // all volumes are named; otherwise some may be unused
};

// The files of a session by side: of near, then of --against as far as they are named.
std::vector<std::string> files_of(const ResultOptions& output);

// By side, as many as files_of. Throws Error for volumes that are refused.
std::vector<ExpectedSession> expect_sessions(const RunRequest& request,
                                             const ResultOptions& output);

// The first difference: "the plan is seq-read, not random-read". "" if `found` is the result of
// such a session, complete or not.
std::string session_difference(const Result& found, const ExpectedSession& expected);

// The results of an interrupted run, near's first, from the files of its command; empty if it has
// measured nothing. Throws Error for files of something else, and of a complete run.
std::vector<Result> load_begun(const RunRequest& request, const ResultOptions& output);

// The time of its start on the clock of now_ns, which may be before the start of that clock:
// differences from it are right all the same.
std::uint64_t began_ns(const Result& result);

// Seconds from now until the next session, `every_s` after the start of the last one. `started`: as
// in results; `now_s`: since 1970. At most `every_s`, even if the clock was set back since.
double seconds_until_next(const std::string& started, double every_s, double now_s);

}  // namespace filereel
