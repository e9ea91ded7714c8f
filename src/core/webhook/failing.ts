/**
 * What an alert says about a webhook that fails. Of its URL only the origin: many services put a token
 * into the path, and alerts are sent to people who may not read webhooks.
 */
export function failingWords({
  url,
  failures,
  lastError,
}: {
  url: string;
  failures: number;
  lastError: string | null;
}): string {
  const times = `${failures.toLocaleString('en')} ${failures === 1 ? 'send' : 'sends in a row'}`;
  const why = lastError === null ? '' : `, ${lastError}`;
  return `${originOf(url)}, ${times}${why}`;
}

/** `http://host`, also of a broker, whose URL `URL` gives no origin. */
function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
