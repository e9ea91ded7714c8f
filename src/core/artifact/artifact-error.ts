/** Why an artifact is refused. Each reason has its own code. */
export const ARTIFACT_ERROR_CODES = {
  NOT_AN_ARCHIVE: 'the file is neither tar.gz nor zip, or is damaged',
  ARCHIVE_TRUNCATED: 'the archive ends too early',
  ARCHIVE_ENCRYPTED: 'an entry is encrypted',
  ARCHIVE_LINK: 'an entry is a symbolic link',
  ARCHIVE_HARD_LINK: 'an entry is a hard link',
  ARCHIVE_DEVICE: 'an entry is a device, a pipe or another special file',
  ARCHIVE_SETUID: 'a file has the setuid or setgid bit',
  ARCHIVE_ABSOLUTE_PATH: 'a path is absolute',
  ARCHIVE_PARENT_PATH: 'a path contains ..',
  ARCHIVE_BACKSLASH: 'a path contains a backslash',
  ARCHIVE_NUL: 'a path contains a NUL character',
  ARCHIVE_DRIVE_LETTER: 'a path begins with a drive letter',
  ARCHIVE_PATH_INVALID: 'a path is empty, too long or not text',
  ARCHIVE_DUPLICATE: 'a path occurs twice',
  ARCHIVE_NAME_CLASH: 'two paths differ only in case or in the form of Unicode',
  ARCHIVE_TOO_MANY_ENTRIES: 'the archive has too many entries',
  ARCHIVE_ENTRY_TOO_LARGE: 'an entry is too large',
  ARCHIVE_TOO_LARGE: 'the archive or its content is too large',
  ARCHIVE_BOMB: 'the content is too large for the size of the archive',
  MANIFEST_MISSING: 'the archive has no longshore.json',
  MANIFEST_INVALID: 'longshore.json is wrong',
  UNSIGNED: 'the artifact has no signature',
  WRONG_SIGNATURE: 'the signature does not fit the artifact',
  UNKNOWN_KEY: 'the key of the signature is not trusted',
  STORAGE_UNAVAILABLE: 'the storage does not answer',
  ARTIFACT_MISSING: 'the storage does not have the artifact',
  ARTIFACT_CORRUPT: 'the content has another hash than its name',
} as const;

export type ArtifactErrorCode = keyof typeof ARTIFACT_ERROR_CODES;

export class ArtifactError extends Error {
  override name = 'ArtifactError';
  readonly code: ArtifactErrorCode;

  constructor(code: ArtifactErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** The same artifact may be fine later. All other reasons are final. */
  get isTemporary(): boolean {
    return this.code === 'STORAGE_UNAVAILABLE';
  }
}
