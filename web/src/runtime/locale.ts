import { validLocale } from '../words/locale.ts';

/**
 * Some browsers report the locale of the system as it is. Chart code passes it to `Intl`, which throws,
 * so it is corrected here before any other module reads it.
 */
const locale = validLocale(navigator.language);
if (locale !== navigator.language) {
  Object.defineProperty(navigator, 'language', { configurable: true, get: () => locale });
}
