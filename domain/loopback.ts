// URLs of services on this machine, which need no TLS in development.

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL is plain http to this machine. */
export function isLoopbackUrl({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'http:' && LOOPBACK_HOSTS.has(hostname);
}
