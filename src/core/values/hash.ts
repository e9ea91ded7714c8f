/**
 * A 64-bit hash by cyrb53's mixing, as 16 hex digits. Not for secrets. Pure code cannot use
 * node:crypto.
 */
export function hashText(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  const mix = (a: number, b: number) =>
    Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  return [mix(high, low), mix(low, high)].map(hex).join('');
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0');
}

/** FNV-1a with 32 bits. The result must never change between releases or languages. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}
