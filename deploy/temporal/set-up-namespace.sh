#!/bin/sh
# Waits for Temporal, then makes the namespace TEMPORAL_NAMESPACE with its retention and search attributes. It may run
# again. TEMPORAL_ADDRESS and its companions say where; `temporal` is in the image temporalio/admin-tools.
set -eu

# A new namespace is known everywhere only after some seconds.
persist() {
  tries=60
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "given up: $*" >&2; exit 1; }
    sleep 2
  done
}

reachable() { temporal operator cluster health >/dev/null; }
persist reachable

namespace=${TEMPORAL_NAMESPACE:-default}
# Closed orders guard their ids for as long as they are kept: whoever made it longer keeps that.
temporal operator namespace create --namespace "$namespace" --retention 30d >/dev/null 2>&1 || true

# A file beside this one names them, one `<name> <type>` in each line.
while read -r name type; do
  attribute() {
    temporal operator search-attribute create --namespace "$namespace" --name "$name" --type "$type" </dev/null
  }
  persist attribute
done <"$(dirname "$0")/search-attributes"
echo "namespace $namespace is ready"
