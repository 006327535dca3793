// How this browser shows the console: theme, language, time zone, shortcuts.
import {
  preferences,
  setPreference,
  SYSTEM_TIME_ZONE,
  type Language,
  type Theme,
} from '../../data/preferences.ts';
import { useStore } from '../../data/store.ts';
import { t } from '../../texts/pages.ts';
import { Choices, Field, Select } from '../../ui/controls.tsx';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: 'en', label: 'English' },
  { value: 'zh', label: '中文' },
];

export function Looks() {
  const { theme, language, timeZone, hasShortcuts } = useStore(preferences);
  const zones = [
    { value: '', label: t.account.systemZone(SYSTEM_TIME_ZONE) },
    ...['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => ({ value: zone, label: zone })),
  ];
  return (
    <div class="stack">
      <Choices
        label={t.account.theme}
        isSegmented
        value={theme}
        options={THEMES.map((value) => ({ value, label: t.account.themes[value] }))}
        onValue={(value) => setPreference('theme', value)}
      />
      <Choices
        label={t.account.language}
        isSegmented
        value={language}
        options={LANGUAGES}
        onValue={(value) => setPreference('language', value)}
      />
      <Field label={t.account.zone}>
        {({ id }) => (
          <div style={{ maxWidth: '320px' }} class="field">
            <Select
              id={id}
              label={t.account.zone}
              value={timeZone}
              options={zones}
              onValue={(value) => setPreference('timeZone', value)}
            />
          </div>
        )}
      </Field>
      <label class="check note">
        <input
          type="checkbox"
          checked={hasShortcuts}
          onChange={() => setPreference('hasShortcuts', !hasShortcuts)}
        />
        {t.account.shortcuts}
      </label>
    </div>
  );
}
