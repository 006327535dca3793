# Temporal's server with the entrypoint of its own module; the configuration for containers is inside the program.
FROM svc-gateway-stand-in/debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends netcat-openbsd && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 1000 temporal
COPY temporal-server /usr/local/bin/temporal-server
COPY entrypoint.sh /etc/temporal/entrypoint.sh
WORKDIR /etc/temporal
USER temporal
CMD ["bash", "/etc/temporal/entrypoint.sh"]
