#!/bin/sh
# house_test.sh must see an include that points up, or it tests nothing.
set -eu
check=$1
house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
mkdir "$house/filesets" "$house/traces" "$house/replay" "$house/tools"
echo '#include "filesets/system/error.h"' > "$house/replay/good.cc"
"$check" "$house"
echo '#include "replay/engine/replayer.h"' > "$house/filesets/bad.cc"
if "$check" "$house" > /dev/null; then
  echo "an include that points up the house was not seen"
  exit 1
fi
rm "$house/filesets/bad.cc"
echo '#include <nlohmann/json.hpp>' > "$house/replay/bad.cc"
if "$check" "$house" > /dev/null; then
  echo "a second place that includes the JSON library was not seen"
  exit 1
fi
