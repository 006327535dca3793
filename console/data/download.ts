// Hands files to the browser to keep.

/** Browsers drop downloads that a page begins all at once. */
const PAUSE_MS = 400;

/** Begins the download of what stands at the address. */
export function download(url: string, name = ''): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}

/** Begins one download after the other. The browser may ask once whether this page may do so. */
export async function downloadAll(urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) {
    if (index > 0) await new Promise((done) => setTimeout(done, PAUSE_MS));
    download(url);
  }
}
