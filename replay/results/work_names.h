// One name for the same work. A result names work after its file, but a file may be copied, renamed
// or named with its folders, so names alone do not tell whether work is the same.
#pragma once

#include <span>

#include "replay/results/result.h"

namespace filereel {

// Whether the job, or the set of FC-Test, is named after its file, not by a plan.
bool is_named_after_file(const WorkRecord& work);

// Gives work that has the same content the name that it has in the first result, where the names
// are those of files and each result has one of them. WorkRecord::file keeps the name of the file.
void name_alike(std::span<Result* const> results);

// For a result from before digests were stored: recipes that are named with their folders get the
// name of their file, as in newer results, unless two would have the same one.
void shorten_older_names(Result& result);

}  // namespace filereel
