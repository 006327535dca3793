# Debian's Prometheus.
FROM svc-gateway-stand-in/debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /prometheus && chown prometheus /prometheus
USER prometheus
CMD ["prometheus", "--config.file=/etc/rehearsal/prometheus.yml", "--storage.tsdb.path=/prometheus"]
