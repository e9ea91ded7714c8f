/** Waits for a condition, not for a time: asks again until the answer is truthy. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  patienceMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
