# Node of this project and the npm that runs the rehearsal, on Debian, with the certificates of this machine.
FROM svc-gateway-stand-in/debian:bookworm
COPY ca.crt /usr/local/share/machine-ca.crt
COPY npm /usr/local/lib/node_modules/npm
COPY node /usr/local/bin/node
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/machine-ca.crt
CMD ["node"]
