// Standard input, output and error: always open.
#pragma once

namespace filereel {

// Call before opening any file. Replaces closed standard streams by /dev/null; otherwise the next
// opened file would get their number and receive text for the terminal. Standard input is then at
// its end and notices are lost, but writing results fails, so that their loss is reported. A
// recorded program finds the stream closed, as it would without filereel. Throws Error(failed) if
// /dev/null is missing.
void reserve_standard_streams();

}  // namespace filereel
