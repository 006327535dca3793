#!/bin/sh
# Makes the namespace and the search attributes that operators filter tasks by. Safe to repeat.
# The server is found through TEMPORAL_ADDRESS, the namespace's name is TEMPORAL_NAMESPACE.
set -eu

# The frontend listens a moment before the whole server can serve, and learns of a new namespace a moment later.
persist() {
  tries=30
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 2
  done
}

persist temporal operator cluster health

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 168h

# One call for each: of several names in one call, the command line takes the first and says nothing.
for attribute in TaskStatus=Keyword Mode=Keyword Model=Keyword Provider=Keyword UserId=Keyword Attempt=Int; do
  persist temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name "${attribute%=*}" --type "${attribute#*=}"
done
