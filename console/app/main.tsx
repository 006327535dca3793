// Begins the console in the page that the API sent.
import { render } from 'preact';
import { loadTexts } from '../texts/index.ts';
import { takeOverReads } from '../data/first-reads.ts';
import { preferences } from '../data/preferences.ts';
import { believePage } from '../data/session.ts';
import { App } from './app.tsx';
import { reloadAfterBuilds } from './development.ts';
import { readAhead } from './read-ahead.ts';

takeOverReads();
believePage();
readAhead();
preferences.watch(() => void loadTexts());
await loadTexts();
const place = document.getElementById('app');
if (place) render(<App />, place);
if (document.documentElement.dataset['mode'] === 'development') reloadAfterBuilds();
