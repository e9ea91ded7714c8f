const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Memory: "512 B", "1.5 MiB", "240 MiB". */
export function size(bytes: number): string {
  let amount = Math.max(0, bytes);
  let unit = 0;
  // Rounds 1024 of a unit up to 1 of the next.
  while (Math.round(amount) >= 1_024 && unit < UNITS.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  const shown = amount < 10 && unit > 0 ? Math.round(amount * 10) / 10 : Math.round(amount);
  return `${shown} ${UNITS[unit]}`;
}
