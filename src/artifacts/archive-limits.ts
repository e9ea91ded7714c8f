/** What an archive may contain at most. */
export interface ArchiveLimits {
  /** The archive itself. */
  archiveBytesMax: number;
  entriesMax: number;
  entryBytesMax: number;
  /** All files together. */
  contentBytesMax: number;
  /** Content in relation to the archive, for content above `ratioFreeBytes`. */
  ratioMax: number;
  ratioFreeBytes: number;
}

const MIB = 1_048_576;

export const ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytesMax: 256 * MIB,
  entriesMax: 20_000,
  entryBytesMax: 256 * MIB,
  contentBytesMax: 1_024 * MIB,
  // Source code shrinks to a fifth; what shrinks to less than a hundredth is made for it.
  ratioMax: 100,
  ratioFreeBytes: 16 * MIB,
};
