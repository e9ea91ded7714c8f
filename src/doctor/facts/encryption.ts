import { parseKeyRing } from '../../core/access/key-ring.ts';

export function keyIdsOf(ring: string | null): string[] {
  const parsed = ring === null ? null : parseKeyRing(ring);
  return parsed?.ok ? parsed.keys.map(({ id }) => id) : [];
}
