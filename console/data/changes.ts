// What a form changed: the rest is not sent, so that it undoes nothing that was changed elsewhere meanwhile.

/** The fields of `now` that differ from those of `before`, as JSON. */
export function changesOf<Fields extends object>(before: Fields, now: Fields): Partial<Fields> {
  const changed: Partial<Fields> = {};
  for (const name in now)
    if (JSON.stringify(now[name]) !== JSON.stringify(before[name])) changed[name] = now[name];
  return changed;
}
