// The type of a value that JSON can carry.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
