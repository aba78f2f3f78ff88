#!/bin/sh
# The house has four layers, and each may include only itself and the ones below (docs/architecture.md).
#   house_test.sh DIR    checks the tree at DIR; exit 1 and a line for each include that points up
set -eu
cd "$1"
bad=0
refuse() {  # layer, pattern of the layers above
  hits=$(grep -rnE "#include \"($2)/" --include='*.h' --include='*.cc' "$1" || true)
  if [ -n "$hits" ]; then
    echo "includes that point up the house:"
    echo "$hits"
    bad=1
  fi
}
refuse filesets 'traces|replay|tools'
refuse traces 'replay|tools'
refuse replay 'tools'
# One header takes seconds to compile: replay/json.h includes it for all.
if grep -rnE '#include <nlohmann/' --include='*.h' --include='*.cc' filesets traces replay tools |
  grep -v '^replay/json'; then
  echo "include replay/json.h instead"
  bad=1
fi
exit $bad
