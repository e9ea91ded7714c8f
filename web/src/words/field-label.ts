/** Labels that differ from the name of the field in the API. */
const LABELS: Readonly<Record<string, string>> = {
  canaryPercent: 'Share of new jobs, in percent',
  definitionKey: 'Definition',
  definitionKeys: 'Only for these definitions',
  expiresAt: 'Expires',
  period: 'Per',
  ratePerSecond: 'Max jobs per second',
  seconds: 'How long',
  tenant: 'Name',
  url: 'URL',
  windowSeconds: 'Window (seconds)',
};

/**
 * The label of a field in a dialog, for a JSON pointer of the request: `/runAt` is "Run at", `/to/0`
 * is "To", `/params/to/0` is "Params (to.0)". `labels` are those that only this dialog has.
 */
export function fieldLabel(pointer: string, labels: Readonly<Record<string, string>> = {}): string {
  const [name = '', ...inner] = pointer.split('/').slice(1);
  const label = labels[name] ?? LABELS[name] ?? spaced(name);
  const isListed = inner.length === 1 && /^\d+$/.test(inner[0] ?? '');
  return inner.length === 0 || isListed ? label : `${label} (${inner.join('.')})`;
}

/** `runAt` as "Run at". */
function spaced(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
