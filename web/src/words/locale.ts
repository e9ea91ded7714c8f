/** The language of numbers where the browser's is no language tag, such as `en-US@posix` or `C`. */
const FALLBACK = 'en-GB';

/** A language that `Intl` accepts: that of the browser, or the part of it that is one. */
export function validLocale(language: string | undefined): string {
  const candidates = [
    language ?? '',
    (language ?? '').split(/[@.]/, 1)[0]?.replace('_', '-') ?? '',
  ];
  return candidates.find((one) => one !== '' && isLocale(one)) ?? FALLBACK;
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
