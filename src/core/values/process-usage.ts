/** What the process of an attempt used, as far as known. */
export interface Usage {
  pid: number | null;
  exitCode: number | null;
  signal: string | null;
  peakRssBytes: number | null;
  cpuMs: number | null;
}

export const NO_USAGE: Usage = {
  pid: null,
  exitCode: null,
  signal: null,
  peakRssBytes: null,
  cpuMs: null,
};
