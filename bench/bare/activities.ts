// An activity that does nothing: the floor that the gateway's tasks are measured against.

export async function nothing(): Promise<void> {}
