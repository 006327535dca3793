#!/bin/bash
# Copies a finished segment of the WAL, $1, into the archive under its name, $2. PostgreSQL runs it (archive_command).
set -euo pipefail

archive=/archive/wal
mkdir --parents "$archive"
# After a crash PostgreSQL asks again for what is there already; another file of the same name is never replaced.
if [ -f "$archive/$2" ]; then exec cmp "$1" "$archive/$2"; fi
cp "$1" "$archive/.$2"
sync "$archive/.$2"
mv "$archive/.$2" "$archive/$2"
sync "$archive"
