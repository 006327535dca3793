// Begins the console in the page that the API sent.
import { render } from 'preact';
import { loadTexts } from '../texts/index.ts';
import { preferences } from '../data/preferences.ts';
import { App } from './app.tsx';
import { reloadAfterBuilds } from './development.ts';

preferences.watch(() => void loadTexts());
await loadTexts();
const place = document.getElementById('app');
if (place) render(<App />, place);
if (document.documentElement.dataset['mode'] === 'development') reloadAfterBuilds();
