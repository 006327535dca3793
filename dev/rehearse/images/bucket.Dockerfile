# An S3 server (versitygw) whose buckets are folders; it holds one bucket, named results.
FROM svc-gateway-stand-in/debian:bookworm
COPY versitygw /usr/local/bin/versitygw
RUN useradd --uid 1000 bucket && mkdir -p /buckets/results && chown -R bucket /buckets
USER bucket
CMD ["versitygw", "--port", ":7070", "posix", "/buckets"]
