/** Hands on what a template asks for; a misspelt key fails instead of printing nothing. */
export function known<T>(value: T | undefined, key: string): T {
  if (value === undefined) throw new Error(`A template uses "${key}", which projects do not have`);
  return value;
}
