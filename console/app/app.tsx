// The whole console: the cache, the address, the session, and the frame around the pages.
import { QueryClientProvider } from '@tanstack/preact-query';
import { LocationProvider } from 'preact-iso/router';
import { ROOT } from '../data/addresses.ts';
import { client } from '../data/client.ts';
import { useMe } from '../data/queries.ts';
import { useStore } from '../data/store.ts';
import { loadedLanguage } from '../texts/index.ts';
import { preferences } from '../data/preferences.ts';
import { LogIn } from '../pages/login/login.tsx';
import { Problem } from '../ui/problem.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { Frame } from './frame.tsx';
import { Verification } from './verification.tsx';

export function App() {
  const language = useStore(loadedLanguage);
  const { timeZone } = useStore(preferences);
  return (
    <QueryClientProvider client={client}>
      <LocationProvider scope={ROOT}>
        <Session key={`${language} ${timeZone}`} />
        <Verification />
        <Toasts />
      </LocationProvider>
    </QueryClientProvider>
  );
}

/** The login stands where the page stands, so that the same page is there after it. */
function Session() {
  const me = useMe();
  if (me.data) return <Frame user={me.data} />;
  if (me.data === null) return <LogIn />;
  // Already while it is asked again: with nothing to show, the wait would be an empty page.
  const problem = me.error ?? me.failureReason;
  if (problem)
    return (
      <main class="login">
        <Problem error={problem} onRetry={() => void me.refetch()} />
      </main>
    );
  return null;
}
