// How this part works: strace attaches to the held program, or to running processes
// (strace_process.h), and writes a line for each call into a pipe. The recording thread reads the
// pipe with the importer for strace's output (StraceImport), so a recording and an imported file
// take the same way. A second thread waits for a stop and ends strace's output (StopMonitor).
// Nothing is lost, because a full pipe stops strace, and strace stops the program; the price is
// that each call takes two switches between processes. Start with StraceRecorder::record in
// strace_recorder.cc.
//
// Recording with strace, for users who may not load BPF programs.
#pragma once

#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& strace_backend();

}  // namespace filereel
