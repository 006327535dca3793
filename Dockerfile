# The console is the only part that is built: bundled here, so that the image holds no bundler.
FROM node:24.21.0-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY console console
RUN node console/build.ts /console

# One image for the API, the worker and the one-shot commands: the sources as they are, because Node 24 runs TypeScript.
FROM node:24.21.0-bookworm-slim

# Certificates of public authorities, which the worker needs for a Temporal server behind TLS.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

WORKDIR /app
ENV NODE_ENV=production
# Buffers of a megabyte are given back to the system when they are freed. By itself glibc raises the size from which
# it does so with the first one that is freed, and keeps all later ones (mallopt(3), M_TRIM_THRESHOLD).
ENV MALLOC_TRIM_THRESHOLD_=131072

# Without install scripts: the one that matters would fetch a second Node, and the image has its own.
COPY package.json package-lock.json .npmrc ./
# Of what is installed, no process reads source maps, type declarations, or Temporal's core for other systems.
RUN npm ci --omit=dev --ignore-scripts \
  && npm cache clean --force \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# What .dockerignore lets through: no tests, no development servers, no sandbox.
COPY . .
COPY --from=console /console /app/console/dist

# Results, where no bucket is configured. A new volume takes over its owner.
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 8080
CMD ["node", "--v8-pool-size=1", "--min-semi-space-size=16", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "api/server.ts"]
