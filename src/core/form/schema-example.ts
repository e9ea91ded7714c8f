/** The first of the `examples` in the JSON Schema of params; null if it has none. */
export function exampleOf(schema: unknown): object | null {
  if (typeof schema !== 'object' || schema === null || !('examples' in schema)) return null;
  const [first] = Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [];
  return typeof first === 'object' ? first : null;
}
