// Browser and system out of a user agent, as people call them.

const BROWSERS = [/Edg/, /OPR/, /Firefox/, /Chrome/, /Safari/, /curl/];
const SYSTEMS = [/Windows/, /iPhone|iPad/, /Android/, /Mac OS/, /Linux/];
const NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' };

/** Browser and system, as far as the user agent says; null where it says neither. */
export function deviceOf(userAgent: string | null): string | null {
  const words = [BROWSERS, SYSTEMS].flatMap((names) => {
    const word = names.find((name) => name.test(userAgent ?? ''))?.source.split('|')[0];
    return word === undefined ? [] : [NAMES[word] ?? word];
  });
  return words.length > 0 ? words.join(', ') : null;
}
