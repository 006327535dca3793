# Temporal's UI with the configuration for containers of its own module.
FROM svc-gateway-stand-in/debian:bookworm
RUN useradd --uid 5000 --create-home ui
COPY ui-server /home/ui/ui-server
COPY config /home/ui/config
WORKDIR /home/ui
USER ui
CMD ["./ui-server", "--env", "docker", "start"]
