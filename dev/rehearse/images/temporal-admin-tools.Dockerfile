# Temporal's command line and schema tool, with the schemas of the server's module where the official image has them.
FROM svc-gateway-stand-in/debian:bookworm
RUN useradd --uid 1000 --create-home temporal
COPY temporal temporal-sql-tool /usr/local/bin/
COPY schema /etc/temporal/schema
USER temporal
CMD ["sleep", "infinity"]
