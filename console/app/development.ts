// In development: loads the page again when a new build of it is there.
import { apiUrl } from '../data/addresses.ts';

export function reloadAfterBuilds(): void {
  const source = new EventSource(apiUrl('console/build-events'));
  source.addEventListener('reload', () => location.reload());
}
