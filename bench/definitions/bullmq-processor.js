/** What BullMQ's sandbox runs: the same nothing as `process.ts`. */
export default async function noop() {
  return null;
}
