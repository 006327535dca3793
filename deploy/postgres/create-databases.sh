#!/bin/bash
# Runs once, when the database server is new: the users, and a database for each thing that two of them own.
set -euo pipefail

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set gateway_password="$GATEWAY_DATABASE_PASSWORD" --set app_password="$APP_DATABASE_PASSWORD" \
  --set temporal_password="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
create role gateway login password :'gateway_password';
create role svc_app login password :'app_password';
create role temporal login password :'temporal_password';
create database gateway owner gateway;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke connect on database gateway, temporal, temporal_visibility from public;
grant connect on database gateway to svc_app;
SQL
