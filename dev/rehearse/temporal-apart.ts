// Temporal as four services of the same image, each in a container of its own; the frontend keeps its name.

/** Whether it runs so in this rehearsal. */
export const IS_TEMPORAL_APART = process.argv.includes('--temporal-apart');
/** The frontend is the service that docker-compose.yml names: the gateway's processes know no other. */
export const FRONTEND = 'temporal';
/** What each of the other services listens on, as the server's own configuration for containers says. */
const PORTS = { history: '7234', matching: '7235', worker: '7239' } as const;
/** The services beside the frontend. */
export const OTHERS: readonly string[] = Object.keys(PORTS).map((role) => `${FRONTEND}-${role}`);

/** What an override adds, so that one process becomes four. */
export function partTemporal(temporal: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { ports: _, healthcheck, environment, ...same } = temporal;
  const other = (role: string, port: string): unknown => ({
    ...same,
    environment: { ...(environment as object), ...roleOf(role) },
    healthcheck: { ...(healthcheck as object), test: ['CMD', 'nc', '-z', 'localhost', port] },
  });
  return {
    [FRONTEND]: { environment: roleOf('frontend') },
    ...Object.fromEntries(
      Object.entries(PORTS).map(([role, port]) => [`${FRONTEND}-${role}`, other(role, port)]),
    ),
  };
}

function roleOf(role: string): Record<string, string> {
  // The server's own worker finds the frontend by this; the default is the address that it listens on.
  return { TEMPORAL_SERVICES: role, PUBLIC_FRONTEND_ADDRESS: `${FRONTEND}:7233` };
}
