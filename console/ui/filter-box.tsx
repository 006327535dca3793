// A filter that is typed. It takes effect when typing pauses, so that not every letter asks the API.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

const PAUSE_MS = 200;

interface FilterBoxProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** Whether `/` leads here. */
  isMain?: boolean;
}

export function FilterBox({ label, value, onValue, isMain = false }: FilterBoxProps) {
  const [text, setText] = useState(value);
  const known = useRef(value);
  const latest = useRef(onValue);
  latest.current = onValue;
  useEffect(() => {
    // Only what changed elsewhere: the first letters may be typed before this runs for the first time.
    if (value !== known.current) setText(value);
    known.current = value;
  }, [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => {
      known.current = text;
      latest.current(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="search">
      <Icon name="search" size={14} />
      <input
        class="input"
        type="search"
        size={Math.max(14, label.length + 2)}
        {...(isMain && { 'data-filter': true })}
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </div>
  );
}
