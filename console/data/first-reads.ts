// What the page began to read of the API while its scripts were on their way.

const begun = new Map<string, Promise<Response>>();

/**
 * Takes over everything that the page announced. Nothing of it may stay with the browser, which would give it
 * to a later request, perhaps in another user's session.
 */
export function takeOverReads(): void {
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[rel="preload"][as="fetch"]')) {
    const answer = fetch(href);
    // What fails is told to the request that takes it, if there is one.
    answer.catch(() => undefined);
    begun.set(href, answer);
  }
}

/** The answer to a request that was begun; each is given once. */
export function takeBegun(method: string, url: string): Promise<Response> | undefined {
  const answer = method === 'GET' ? begun.get(url) : undefined;
  begun.delete(url);
  return answer;
}

/** Drops what was not taken: it grows old, and belongs to the session that began it. */
export function forgetBegun(): void {
  begun.clear();
}
