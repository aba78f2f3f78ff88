// What every replay does with its volume before the clock starts.
#pragma once

#include <stop_token>
#include <string>

#include "filesets/file_set.h"
#include "replay/results/result.h"
#include "replay/run/reel_fit.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Makes the files of `initial`, on a volume where there must be room for `largest`; `advice` ends
// the message if there is none. False when the stop was requested.
bool fill_volume(Volume& volume, const FileSet& initial, const FileSet& largest,
                 std::string_view advice, const std::stop_token& stop);

// Empties the caches, of what they hold of `files` too, or leaves them as they are, and notes it in
// the sample.
void set_caches(Volume& volume, const FileSet& files, bool warm, Sample& sample);

// Adds the volume to the result, unless one of its role and file system stands there, and a warning
// of its driver.
void add_volume(const Volume& volume, Result& result);

// Labels the result with the name of its volume, unless it has a label.
void add_label(const Volume& volume, Result& result);

// Adds what was changed so that a trace fits the file system; `name` is the trace's.
void add_fitting(const FittedTrace& fitted, const std::string& file_system, const std::string& name,
                 Result& result);

}  // namespace filereel
