#!/bin/bash
# Puts the base backup $1 in the place of the data. When the server starts, it replays the archived WAL up to the
# moment $2, or to the end without one. Run as root while the server is stopped.
set -euo pipefail

base=$1
moment=${2:+$(date --utc --date "$2" '+%F %T.%6N+00')}
if [ ! -f "$base/backup_label" ]; then echo "$base is no base backup" >&2 && exit 1; fi
if pg_isready --quiet --host postgres; then echo 'the server still runs: stop it first' >&2 && exit 1; fi

# Where the old data is still there, what was not archived yet is kept: also for another run of this script.
unarchived=/archive/unarchived
mkdir --parents "$unarchived"
if [ -d "$PGDATA/pg_wal" ]; then
  find "$PGDATA/pg_wal" -maxdepth 1 -type f -regex '.*/[0-9A-F]+' \
    -exec cp --archive --update --target-directory "$unarchived" {} +
fi

find "$PGDATA" -mindepth 1 -delete
cp --archive "$base/." "$PGDATA"
cp --archive --no-clobber "$unarchived/." "$PGDATA/pg_wal"
{
  echo "restore_command = 'cp /archive/wal/%f \"%p\"'"
  echo "recovery_target_action = 'promote'"
  if [ -n "$moment" ]; then echo "recovery_target_time = '$moment'"; fi
} >>"$PGDATA/postgresql.auto.conf"
touch "$PGDATA/recovery.signal"
chown --recursive postgres "$PGDATA"
chmod 700 "$PGDATA"
