# Debian's nginx, in the foreground; it terminates TLS before the APIs and before the stand-in of the vendors.
FROM svc-gateway-stand-in/debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light && rm -rf /var/lib/apt/lists/*
CMD ["nginx", "-g", "daemon off; error_log /dev/stderr;"]
