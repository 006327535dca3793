# Debian's Redis, run as its own user as the official image does.
FROM svc-gateway-stand-in/debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /data && chown redis /data
WORKDIR /data
ENTRYPOINT ["setpriv", "--reuid", "redis", "--regid", "redis", "--init-groups"]
CMD ["redis-server"]
