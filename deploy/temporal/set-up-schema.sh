#!/bin/sh
# Makes Temporal's two databases in PostgreSQL, or brings their schemas up to this version: run it before each new server
# version. SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD say where; temporal-sql-tool is in the image temporalio/admin-tools.
set -eu
export SQL_PLUGIN=postgres12

for schema in temporal visibility; do
  SQL_DATABASE=temporal
  [ "$schema" = temporal ] || SQL_DATABASE=temporal_visibility
  export SQL_DATABASE
  # Both fail where an earlier run made them; whatever else is wrong stops the update below.
  temporal-sql-tool create-database >/dev/null 2>&1 || true
  temporal-sql-tool setup-schema --version 0.0 >/dev/null 2>&1 || true
  temporal-sql-tool update-schema --schema-name "postgresql/v12/$schema"
done
