/** What a suspended job waits for: a signal, or the end of other jobs. */
export type WaitsFor =
  { signal: string; jobs?: undefined } | { jobs: 'parents' | 'children'; signal?: undefined };
