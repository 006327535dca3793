#!/bin/sh
# Brings the schemas of Temporal's two databases up to date. Safe to repeat; run it before a newer server starts.
# The database server and its user are found through the SQL_* settings of the tool.
set -eu

update() {
  temporal-sql-tool --database "$1" setup-schema -v 0.0
  temporal-sql-tool --database "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

update temporal temporal
update temporal_visibility visibility
