// The floor: an activity that does nothing.

export async function nothing(): Promise<void> {}
