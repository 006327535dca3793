#!/bin/bash
# Runs once, when the database server is new: two users, and a database for each thing they own.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set gateway_password="$GATEWAY_DATABASE_PASSWORD" --set temporal_password="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
create role gateway login password :'gateway_password';
create role temporal login password :'temporal_password';
create database gateway owner gateway;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke connect on database gateway, temporal, temporal_visibility from public;
SQL
